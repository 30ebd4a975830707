import type { Transcript } from '../../speech/transcript.ts'
import { formats, transcriptFile, type Format } from '../downloads/transcript-files.ts'

export function Downloads({ name, transcript }: { name: string; transcript: Transcript }) {
  return formats.map((format) => (
    <button key={format} type="button" class="quiet" onClick={() => save(name, transcript, format)}>
      Save {format.toUpperCase()}
    </button>
  ))
}

function save(name: string, transcript: Transcript, format: Format): void {
  const url = URL.createObjectURL(transcriptFile(transcript, format))
  const link = Object.assign(document.createElement('a'), {
    href: url,
    download: `${name.replace(/\.wave?$/i, '')}.${format}`,
  })
  link.click()
  // Not at once: the browser may still be reading it.
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
