// The part of pdf.js that the app uses, so that types are checked without its package.
export interface Viewport { width: number; height: number; scale: number }
export interface RenderTask { promise: Promise<void>; cancel(): void }
export interface PdfPage {
  getViewport(options: { scale: number }): Viewport;
  render(options: { canvas: HTMLCanvasElement; viewport: Viewport; transform?: number[] | null }): RenderTask;
  streamTextContent(): ReadableStream;
  cleanup(): boolean;
}
export interface PdfDocument {
  numPages: number;
  getPage(number: number): Promise<PdfPage>;
  getPageLabels(): Promise<string[] | null>;
}
export interface LoadingTask { promise: Promise<PdfDocument>; onPassword: (() => void) | null; destroy(): Promise<void> }
export function getDocument(options: Record<string, unknown>): LoadingTask;
export const GlobalWorkerOptions: { workerPort: Worker | null };
export class TextLayer {
  constructor(options: { textContentSource: ReadableStream; container: HTMLElement; viewport: Viewport });
  render(): Promise<void>;
  cancel(): void;
}
