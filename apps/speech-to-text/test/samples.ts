import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const samplesFolder = fileURLToPath(new URL('../samples', import.meta.url))

/** The text of each sample, by file name. */
export const samples = JSON.parse(readFileSync(`${samplesFolder}/expected.json`, 'utf8')) as Record<
  string,
  string
>

export const sampleLines = Object.entries(samples).map(([file, text]) => `${file}: ${text}`)
