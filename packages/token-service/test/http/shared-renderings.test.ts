import { fastify } from 'fastify'
import { expect, it, onTestFinished } from 'vitest'
import { createRenderingQueue } from '../../src/http/rendering-queue.ts'
import { createSharedRenderings } from '../../src/http/shared-renderings.ts'

/** A document for each value of the query. */
function documents() {
  const rendered: string[] = []
  const send = createSharedRenderings(createRenderingQueue())
  const server = fastify()
  onTestFinished(() => server.close())
  server.get<{ Querystring: { of: string } }>('/', (request, reply) => {
    const { of } = request.query
    const render = () => {
      rendered.push(of)
      if (of === 'failing' && rendered.length === 1) throw new Error('not now')
      return `document of ${of}`
    }
    return send(request, reply, { baseUrl: of, type: 'text/plain', render })
  })
  const get = async (of: string) => (await server.inject({ url: '/', query: { of } })).statusCode
  return { get, rendered }
}

it('renders once for requests that come together, and later', async () => {
  const { get, rendered } = documents()
  expect(await Promise.all([get('a'), get('a'), get('a')])).toEqual([200, 200, 200])
  await get('a')
  expect(rendered).toEqual(['a'])
})

it('keeps the eight that were used last', async () => {
  const { get, rendered } = documents()
  const all = ['0', '1', '2', '3', '4', '5', '6', '7']
  for (const of of [...all, '0', '8']) await get(of)
  expect(rendered).toEqual([...all, '8'])
  await get('0')
  expect(rendered).toHaveLength(9)
  await get('1')
  expect(rendered.at(-1)).toBe('1')
})

it('does not keep a failure', async () => {
  const { get } = documents()
  expect([await get('failing'), await get('failing')]).toEqual([500, 200])
})

it('lets others be served between two turns, and rejects those for whom there are too many before', async () => {
  const queue = createRenderingQueue()
  const order: string[] = []
  const turns = Array.from({ length: 100 }, (_none, index) => queue.turn().then(() => order.push(`${index}`)))
  await expect(queue.turn()).rejects.toThrow('overloaded')
  setImmediate(() => setImmediate(() => order.push('another request')))
  await Promise.all(turns)
  expect(order).toHaveLength(101)
  expect(order.indexOf('another request')).toBeLessThan(5)
  await queue.turn()
})
