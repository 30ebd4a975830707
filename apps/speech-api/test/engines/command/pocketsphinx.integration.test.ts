import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { createRandom } from '@tokenwell/internal-testing/random'
import { createCommandEngine, type TranscriptionResponse } from '@tokenwell/speech-api'
import { flite, isInstalled } from '../../../scripts/voices.ts'
import { wavFile } from '../../support/wav-file.ts'
import { joinSamples } from '../../../src/wav/resampler.ts'
import { startTestApi } from '../../support/test-api.ts'
import { samplesOf } from '../../support/recordings.ts'

const installed =
  ['pocketsphinx_continuous', 'flite'].every(isInstalled) && existsSync('/usr/share/pocketsphinx/model/en-us')
if (!installed) {
  process.stdout.write(
    'Skipped the pocketsphinx test. Install pocketsphinx, pocketsphinx-en-us and flite to run it.\n',
  )
}

const root = new URL('../../../', import.meta.url)
const grammar = fileURLToPath(new URL('digits.gram', root))
const STRINGS = 10
const words = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine']
const pause = new Float32Array(0.3 * 16_000)

test.skipIf(!installed)(
  `pocketsphinx recognises ${STRINGS} of ${STRINGS} digit strings spoken by flite, with times`,
  async () => {
    const readme = await readFile(new URL('README.md', root), 'utf8')
    const [, documented = ''] = /SPEECH_ENGINE='(pocketsphinx[^']*)'/.exec(readme) ?? []
    const engine = createCommandEngine({
      maxWaiting: 2 * STRINGS, // one client gets half of the places
      command: documented.replace('digits.gram', `"${grammar}"`),
    })
    const random = createRandom(20_261_121)
    const strings = Array.from({ length: STRINGS }, () =>
      Array.from({ length: 4 + Math.floor(random() * 5) }, () => words[Math.floor(random() * 10)]).join(' '),
    )
    const say = (text: string) =>
      Uint8Array.from(wavFile(joinSamples([pause, samplesOf(flite(text, 'kal16').wav), pause])))
    try {
      await using api = await startTestApi({ engine })
      const recognised = strings.map(async (text) => {
        const response = await api.post(say(text))
        return (await response.json()) as TranscriptionResponse
      })
      for (const { text, segments, durationSeconds } of await Promise.all(recognised)) {
        expect(segments.map((segment) => segment.text).join(' ')).toBe(text)
        for (const [index, { start, end }] of segments.entries()) {
          expect(start).toBeGreaterThanOrEqual(segments[index - 1]?.end ?? 0.2)
          expect(end).toBeGreaterThan(start)
          expect(end).toBeLessThan(durationSeconds - 0.2)
        }
      }
      expect((await Promise.all(recognised)).map(({ text }) => text)).toEqual(strings)
    } finally {
      await engine.close()
    }
  },
)
