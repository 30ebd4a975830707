import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { whichCommandSync } from 'which-command'
import { createRandom } from '@tokenwell/internal-testing/random'
import { createCommandEngine, type TranscriptionResponse } from '@tokenwell/speech-api'
import { DIGIT_WORDS, wavFile } from '../../../scripts/espeak.ts'
import { joinSamples } from '../../../src/wav/resampler.ts'
import { startTestApi } from '../../support/test-api.ts'
import { samplesOf } from '../../support/transcribe-file.ts'

const installed =
  ['pocketsphinx_continuous', 'flite'].every((program) => whichCommandSync(program)) &&
  existsSync('/usr/share/pocketsphinx/model/en-us')
if (!installed) {
  process.stdout.write(
    'Skipped the pocketsphinx test. Install pocketsphinx, pocketsphinx-en-us and flite to run it.\n',
  )
}

const root = new URL('../../../', import.meta.url)
const grammar = fileURLToPath(new URL('digits.gram', root))
const STRINGS = 10
const pause = new Float32Array(0.3 * 16_000)

test.skipIf(!installed)(
  `pocketsphinx recognises ${STRINGS} of ${STRINGS} digit strings spoken by flite, with times`,
  { timeout: 60_000 },
  async () => {
    const readme = await readFile(new URL('README.md', root), 'utf8')
    const [, documented = ''] = /SPEECH_ENGINE='(pocketsphinx[^']*)'/.exec(readme) ?? []
    const engine = createCommandEngine({
      maxWaiting: 2 * STRINGS, // one client gets half of the places
      command: documented.replace('digits.gram', `"${grammar}"`),
    })
    const folder = await mkdtemp(join(tmpdir(), 'flite-'))
    const random = createRandom(20_261_121)
    const strings = Array.from({ length: STRINGS }, () =>
      Array.from({ length: 4 + Math.floor(random() * 5) }, () => DIGIT_WORDS[Math.floor(random() * 10)]).join(
        ' ',
      ),
    )
    const say = async (text: string): Promise<Uint8Array<ArrayBuffer>> => {
      const file = join(folder, `${text}.wav`)
      await promisify(execFile)('flite', ['-voice', 'kal16', '-t', text, '-o', file])
      return Uint8Array.from(wavFile(joinSamples([pause, samplesOf(await readFile(file)), pause])))
    }
    try {
      await using api = await startTestApi({ engine })
      const recognised = strings.map(async (text) => {
        const response = await api.post(await say(text))
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
      await rm(folder, { recursive: true })
    }
  },
)
