import type { Transcript } from '../../speech/transcript.ts'
import { subtitles } from './subtitles.ts'

export const formats = ['txt', 'srt', 'json'] as const

export type Format = (typeof formats)[number]

/** Converts a transcript to a file. */
export function transcriptFile(transcript: Transcript, format: Format): Blob {
  switch (format) {
    case 'txt':
      return new Blob([`${transcript.text}\n`], { type: 'text/plain;charset=utf-8' })
    case 'srt':
      return new Blob([subtitles(transcript.segments)], { type: 'application/x-subrip;charset=utf-8' })
    case 'json':
      return new Blob([`${JSON.stringify(transcript, null, 2)}\n`], { type: 'application/json' })
  }
}
