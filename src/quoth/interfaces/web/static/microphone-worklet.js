/** Runs in the browser's audio thread: sends the sound of a microphone as blocks of 100 ms of PCM. */

// @ts-nocheck - TypeScript knows no names of the audio thread

class MicrophoneSound extends AudioWorkletProcessor {
  constructor() {
    super();
    this.block = new Int16Array(Math.round(sampleRate / 10));
    this.filled = 0;
    this.loudest = 0;
  }

  /** @param {Float32Array[][]} inputs */
  process([input]) {
    for (const sample of input[0] ?? []) {
      const value = Math.max(-1, Math.min(1, sample));
      this.loudest = Math.max(this.loudest, Math.abs(value));
      this.block[this.filled++] = value * 32767;
      if (this.filled === this.block.length) this.send();
    }
    return true;
  }

  send() {
    const pcm = this.block.slice().buffer;
    this.port.postMessage({ pcm, level: this.loudest }, [pcm]);
    this.filled = 0;
    this.loudest = 0;
  }
}

registerProcessor("microphone-sound", MicrophoneSound);
