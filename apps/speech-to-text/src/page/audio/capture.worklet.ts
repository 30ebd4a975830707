declare class AudioWorkletProcessor {
  readonly port: MessagePort
}
declare function registerProcessor(name: string, processor: typeof AudioWorkletProcessor): void

/** Sends every block of samples to the page. */
class Capture extends AudioWorkletProcessor {
  process([[channel]]: [[Float32Array?]]): boolean {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port, not a window
    if (channel) this.port.postMessage(channel)
    return true
  }
}

registerProcessor('capture', Capture)
