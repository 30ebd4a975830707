import Fastify from 'fastify'
import { expect, it, onTestFinished } from 'vitest'
import { resourceServer } from '@tokenwell/resource-server/fastify'
import { createVerifierUnderTest, delayIntrospection } from './verifier-under-test.ts'

it('a request that something else has responded to in the meantime is left alone', async () => {
  const underTest = createVerifierUnderTest()
  const { asked, respond } = delayIntrospection(underTest)
  const app = Fastify({ forceCloseConnections: true })
  onTestFinished(() => app.close())
  app.addHook('onRequest', (_request, reply, done) => {
    done()
    void asked.then(() => reply.code(504).send('too late')).then(respond)
  })
  app.register(resourceServer, { verifier: underTest.verifier })
  app.get('/', async () => ({}))
  const response = await fetch(await app.listen({ host: '127.0.0.1', port: 0 }), {
    headers: { authorization: 'Bearer bad' },
  })
  expect([response.status, await response.text()]).toEqual([504, 'too late'])
  await expect.poll(() => underTest.events.map(({ type }) => type)).toContain('request_rejected')
})
