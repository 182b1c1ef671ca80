/** The sound of a microphone on its way to the service: 16 kHz PCM on a WebSocket. */
import { linkTo } from "./router.js";

const RATE = 16000;
const END_MS = 35000;

/**
 * What ended the microphone, as a key of the messages; `detail` is a sentence of the service.
 */
export class MicrophoneProblem extends Error {
  /** @param {string} key @param {string} [detail] */
  constructor(key, detail = "") {
    super(detail);
    this.key = key;
  }
}

/** @type {Record<string, string>} */
const REASONS = { NotAllowedError: "denied", SecurityError: "denied", NotFoundError: "noDevice", OverconstrainedError: "noDevice", NotReadableError: "lost", AbortError: "lost" };

/** Ask the browser for the microphone; raises MicrophoneProblem. @returns {Promise<MediaStream>} */
export async function openMicrophone() {
  // Outside of HTTPS and this machine a browser offers no microphone.
  if (!navigator.mediaDevices || typeof AudioWorkletNode === "undefined") throw new MicrophoneProblem("insecure");
  try {
    return await navigator.mediaDevices.getUserMedia({ audio: { channelCount: 1, echoCancellation: false, noiseSuppression: false, autoGainControl: true } });
  } catch (error) {
    throw new MicrophoneProblem(REASONS[/** @type {Error} */ (error).name] ?? "denied");
  }
}

export class Microphone {
  /**
   * @param {MediaStream} stream
   * @param {{onLevel: (level: number) => void, onEnd: (problem: MicrophoneProblem | null) => void}} listeners
   */
  constructor(stream, { onLevel, onEnd }) {
    this.stream = stream;
    this.onLevel = onLevel;
    this.onEnd = onEnd;
    /** @type {AudioContext | null} */
    this.context = null;
    /** @type {WebSocket | null} */
    this.socket = null;
    this.ended = false;
  }

  /** Send the sound to a session; `path` is its address. @param {string} path @param {string | null} language */
  async start(path, language) {
    const [track] = this.stream.getAudioTracks();
    track.addEventListener("ended", () => this.end(new MicrophoneProblem("lost")));
    const { context, source } = await this.listen();
    const node = new AudioWorkletNode(context, "microphone-sound", { numberOfOutputs: 0 });
    const socket = new WebSocket(`${location.origin.replace(/^http/, "ws")}${linkTo(path)}/microphone`);
    this.socket = socket;
    socket.onopen = () => {
      socket.send(JSON.stringify({ consent: true, rate: context.sampleRate, language }));
      source.connect(node);
    };
    socket.onmessage = ({ data }) => {
      const message = JSON.parse(data);
      if (message.event === "error") this.end(new MicrophoneProblem(message.problem.code, message.problem.detail));
      if (message.event === "end") this.end(null);
    };
    socket.onclose = () => this.end(new MicrophoneProblem("connection"));
    node.port.onmessage = ({ data }) => {
      this.onLevel(data.level);
      if (socket.readyState === WebSocket.OPEN && track.readyState === "live") socket.send(data.pcm);
    };
  }

  /** Not every browser connects a microphone to a context of another rate: then the service converts. */
  async listen() {
    let context = new AudioContext({ sampleRate: RATE });
    let source;
    try {
      source = context.createMediaStreamSource(this.stream);
    } catch {
      await context.close();
      context = new AudioContext();
      source = context.createMediaStreamSource(this.stream);
    }
    this.context = context;
    await context.audioWorklet.addModule(new URL("./microphone-worklet.js", import.meta.url).href);
    return { context, source };
  }

  /** Switch the microphone off; the service still sends the last words. */
  stop() {
    this.silence();
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send('{"end": true}');
    else this.end(null);
    setTimeout(() => this.end(null), END_MS);
  }

  silence() {
    for (const track of this.stream.getTracks()) track.stop();
    if (this.context?.state !== "closed") this.context?.close();
  }

  /** @param {MicrophoneProblem | null} problem */
  end(problem) {
    if (this.ended) return;
    this.ended = true;
    this.silence();
    this.socket?.close();
    this.onEnd(problem);
  }
}
