import { expect, test } from 'vitest'
import { createSoakTable } from '@tokenwell/internal-testing/soak-table'
import { wavFile } from '../support/wav-file.ts'
import { startTestApi } from '../support/test-api.ts'

const table = createSoakTable()

test('transcribes 25 MiB to the end', async () => {
  await using api = await startTestApi({ longAudioSeconds: Infinity })
  const samples = new Float32Array((24 * 1_048_576) / 2)
  await table.measure('a recording of 25 MiB', async () => {
    const began = performance.now()
    const response = await api.post(Uint8Array.from(wavFile(samples, { sampleRate: 48_000 })))
    expect(await response.json()).toMatchObject({ durationSeconds: samples.length / 48_000, segments: [] })
    return { calls: 1, failures: 0, worstMs: performance.now() - began }
  })
})
