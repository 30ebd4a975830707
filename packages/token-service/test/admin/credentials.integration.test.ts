import { expect, it } from 'vitest'
import { application } from '../test-service.ts'
import { administeredService } from './admin-service.ts'

it.each([
  ['123', ''],
  ['12345678', '12'],
  ['0123456789abcdef', '0123'],
  ['0123456789abcdef0123456789', '0123'],
])('of a secret, administrators see a quarter at most: %s', async (clientSecret, prefix) => {
  const { send } = await administeredService({ applications: [{ ...application, clientSecret }] })
  const { secrets } = (await send('GET', `/applications/${application.clientId}`)).body
  expect(secrets).toMatchObject([{ prefix }])
})

it('renames and removes one of several public keys', async () => {
  const { send } = await administeredService()
  const path = `/applications/${application.clientId}`
  const names = async () =>
    (await send('GET', path)).body.keys.map(({ id, name }: Record<string, string>) => [id, name])
  const added: string[] = []
  for (const name of ['a', 'b', 'c']) {
    const key = `https://keys.example.com/${name}`
    added.push((await send('POST', `${path}/keys`, { key, name })).body[0].id)
  }
  const [a, b, c] = added
  await send('PATCH', `${path}/keys/${b}`, { name: 'second' })
  expect(await names()).toEqual([
    [a, 'a'],
    [b, 'second'],
    [c, 'c'],
  ])
  await send('DELETE', `${path}/keys/${b}`)
  expect(await names()).toEqual([
    [a, 'a'],
    [c, 'c'],
  ])
})
