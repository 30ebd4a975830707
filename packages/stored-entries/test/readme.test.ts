import { runReadmeExample } from '@tokenwell/internal-testing/readme-example'
import { expect, it } from 'vitest'

it('runs the example in the README', async () => {
  const { entry } = await runReadmeExample(new URL('../', import.meta.url), {
    TOKEN_KEY: Buffer.alloc(32, 1).toString('base64'),
  })
  expect(entry).toMatchObject({ id: 'a', response: { accessToken: 'token' } })
})
