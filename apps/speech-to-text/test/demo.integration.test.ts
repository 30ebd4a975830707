import { expect, test } from 'vitest'
import { clientNames } from '../src/clients/create-speech-client.ts'
import { runCommand, samples } from './run-command.ts'

test('the demo transcribes every sample with every client and one token request each', async () => {
  const { code, stdout, stderr } = await runCommand('demo', [])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const calls = Object.keys(samples).length
  for (const client of clientNames) {
    for (const [file, text] of Object.entries(samples)) {
      const row = stdout.split('\n').find((line) => line.includes(file) && line.includes(` ${client} `))
      expect(row).toContain(` ${text} `)
    }
    expect(stdout).toContain(`${client}: 1 token request for ${calls} API calls`)
  }
})
