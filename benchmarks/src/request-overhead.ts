import { attachTokens } from '@tokenwell/axios-interceptor'
import { createTokenFetch } from '@tokenwell/core'
import { tokenHooks } from '@tokenwell/ky-hook'
import { AxiosHeaders, create, type AxiosInstance } from 'axios'
import ky from 'ky'
import { measure } from 'mitata'
import { attachWithAuthRefresh } from './attach/axios-auth-refresh.ts'
import { attachWithTokenInterceptor } from './attach/axios-token-interceptor.ts'
import { azureAnswer, azurePipeline } from './attach/azure-core-rest-pipeline.ts'
import { badgatewayFetch } from './attach/badgateway-oauth2-client.ts'
import { warmTokens } from './attach/tokenwell.ts'
import type { Table } from './table.ts'

const origin = 'https://api.example.com'
const url = `${origin}/v1/orders`
const init = { headers: { accept: 'application/json' } }
const rounds = 5

/** An instance whose transport answers at once: what is measured is the client and the token's part, no network. */
function bareAxios(): AxiosInstance {
  return create({
    baseURL: origin,
    adapter: (config) =>
      Promise.resolve({ data: '{}', status: 200, statusText: 'OK', headers: new AxiosHeaders(), config }),
  })
}

/** Each client with and without its token, turn by turn; the median of the rounds' differences. */
export async function requestOverhead(): Promise<Table> {
  const tokens = await warmTokens()
  const allowedOrigins = [origin]
  const answer = (): Promise<Response> => Promise.resolve(new Response('{}'))
  globalThis.fetch = answer

  const withAxios = (attach: (instance: AxiosInstance) => unknown) => {
    const instance = bareAxios()
    attach(instance)
    return () => instance.get('/v1/orders')
  }
  const bareAxiosCall = withAxios(() => {})
  const bareFetch = (): Promise<Response> => fetch(url, init)
  const tokenFetch = createTokenFetch(tokens, { allowedOrigins })
  const badgateway = badgatewayFetch()
  const kyBare = ky.create({ fetch: answer, retry: 0 })
  const kyOurs = kyBare.extend(tokenHooks(tokens, { allowedOrigins }))
  const azureBare = azurePipeline(azureAnswer, false)
  const azure = azurePipeline(azureAnswer, true)

  const clients: [string, () => unknown, () => unknown][] = [
    ['fetch: @tokenwell/core', bareFetch, () => tokenFetch(url, init)],
    ['fetch: @badgateway/oauth2-client', bareFetch, () => badgateway(url, init)],
    [
      'axios: @tokenwell/axios-interceptor',
      bareAxiosCall,
      withAxios((instance) => attachTokens(instance, tokens)),
    ],
    ['axios: axios-token-interceptor', bareAxiosCall, withAxios(attachWithTokenInterceptor)],
    ['axios: axios-auth-refresh', bareAxiosCall, withAxios(attachWithAuthRefresh)],
    ['ky: @tokenwell/ky-hook', () => kyBare.get(url), () => kyOurs.get(url)],
    ['pipeline: @azure/core-rest-pipeline', () => azureBare(url), () => azure(url)],
  ]
  const rows: string[][] = []
  for (const [name, bare, withToken] of clients) {
    const added: number[] = []
    let bareUs = 0
    for (let round = 0; round < rounds; round++) {
      bareUs = await microseconds(bare)
      added.push((await microseconds(withToken)) - bareUs)
    }
    const median = added.toSorted((a, b) => a - b)[Math.floor(rounds / 2)]!
    rows.push([name, `${median.toFixed(2)} µs`, `${bareUs.toFixed(2)} µs`])
  }
  return {
    title: 'What a token adds to a request',
    note: 'A warm request over a transport that answers at once, with the token less without it.',
    columns: ['client', 'the token adds', 'the client alone'],
    rows,
  }
}

async function microseconds(work: () => unknown): Promise<number> {
  return (await measure(async () => void (await work()), { min_cpu_time: 3e8 })).p50 / 1000
}
