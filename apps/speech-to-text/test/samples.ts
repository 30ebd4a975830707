import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const samplesFolder = fileURLToPath(new URL('../samples', import.meta.url))

/** What is said in each sample, by file name. */
export const samples = JSON.parse(readFileSync(`${samplesFolder}/expected.json`, 'utf8')) as Record<
  string,
  string
>

export const linesOfSamples = Object.entries(samples).map(([file, text]) => `${file}: ${text}`)
