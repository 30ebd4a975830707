import captureUrl from './capture.worklet.ts?worker&url'
import { resampleToWav } from './to-wav.ts'

export interface RecordingStatus {
  readonly seconds: number
  /** The volume, from 0 to 1. */
  readonly level: number
}

export interface MicrophoneRecording {
  /** Stops the recording and returns it as a WAV file. */
  stop(): Promise<Blob>
}

/**
 * Starts a recording.
 *
 * @param onStatus called about ten times a second
 * @throws {Error} with a message for the user
 */
export async function recordMicrophone(
  onStatus: (status: RecordingStatus) => void,
): Promise<MicrophoneRecording> {
  const stream = await openMicrophone()
  const context = new AudioContext()
  const chunks: Float32Array[] = []
  try {
    await context.audioWorklet.addModule(captureUrl)
    const capture = new AudioWorkletNode(context, 'capture', { numberOfOutputs: 0 })
    capture.port.addEventListener('message', ({ data }: MessageEvent<Float32Array>) => {
      chunks.push(data)
      if (chunks.length % 32 === 0) {
        const seconds = (chunks.length * data.length) / context.sampleRate
        onStatus({ seconds, level: Math.min(1, loudness(data) * 4) })
      }
    })
    // `addEventListener` does not start a port, unlike `onmessage`.
    capture.port.start()
    context.createMediaStreamSource(stream).connect(capture)
  } catch (error) {
    await release()
    throw error
  }
  return {
    async stop() {
      const { sampleRate } = context
      await release()
      return resampleToWav(join(chunks), sampleRate)
    },
  }

  async function release(): Promise<void> {
    for (const track of stream.getTracks()) track.stop()
    await context.close()
  }
}

async function openMicrophone(): Promise<MediaStream> {
  try {
    return await navigator.mediaDevices.getUserMedia({ audio: { channelCount: 1 } })
  } catch (error) {
    const { name } = error as DOMException
    if (name === 'NotAllowedError') {
      throw new Error('The microphone is blocked. Allow it in the browser’s settings.', { cause: error })
    }
    if (name === 'NotFoundError') throw new Error('No microphone was found.', { cause: error })
    throw new Error('The microphone is not available. Another program may be using it.', { cause: error })
  }
}

function loudness(samples: Float32Array): number {
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length)
}

function join(chunks: readonly Float32Array[]): Float32Array<ArrayBuffer> {
  const joined = new Float32Array(chunks.reduce((length, chunk) => length + chunk.length, 0))
  let offset = 0
  for (const chunk of chunks) {
    joined.set(chunk, offset)
    offset += chunk.length
  }
  return joined
}
