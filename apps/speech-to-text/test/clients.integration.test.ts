import axios from 'axios'
import { HTTPError } from 'ky'
import { describe, expect, onTestFinished, test } from 'vitest'
import { clientCredentials, isTokenError } from '@tokenwell/core'
import * as withAxios from '../src/axios/speech.ts'
import * as withFetch from '../src/fetch/speech.ts'
import * as withKy from '../src/ky/speech.ts'
import { digits, digitsWav, listen, repeated, startLossyProxy, usePlatform } from './platform.ts'

const platform = usePlatform()

type Transcribe = (recording: Blob, fields: Record<string, string>) => Promise<{ text?: string }>

const clients: Record<string, (speechUrl: string, credentials: Credentials) => Transcribe> = {
  fetch: (speechUrl, credentials) => calling(withFetch.createSpeechClient(speechUrl, tokensOf(credentials))),
  axios(speechUrl, credentials) {
    const api = withAxios.createSpeechApi(speechUrl, tokensOf(credentials))
    return (recording, fields) => withAxios.transcribe(api, recording, fields)
  },
  ky: (speechUrl, credentials) => calling(withKy.createSpeechClient(speechUrl, tokensOf(credentials))),
}

const calling =
  (client: { transcribe: Transcribe }): Transcribe =>
  (recording, fields) =>
    client.transcribe(recording, fields)

type Credentials = typeof platform.credentials

function tokensOf(credentials: Credentials) {
  const tokens = clientCredentials(credentials)
  onTestFinished(() => tokens.close())
  return tokens
}

describe.each(Object.entries(clients))('the client with %s', (_, create) => {
  test('transcribes a recording', async () => {
    const { speechUrl, credentials } = platform
    const { text } = await create(speechUrl, credentials)(new Blob([digitsWav]), digits.fields)
    expect(text).toBe(digits.text)
  })

  test('gets the transcript of a long recording, although a response with it was lost', async () => {
    const { speechUrl, credentials } = platform
    const proxy = await startLossyProxy(speechUrl)
    const { text } = await create(proxy.url, credentials)(new Blob([repeated(30)]), digits.fields)
    expect(text?.split(' ')).toHaveLength(6 * 30)
    expect(proxy.lost()).toBe(1)
  })
})

const wrong = { expected: 'dates' }
const sentence = /^The field "expected" must be digits/

test('fetch, axios and ky report an error of the API in their own way', async () => {
  const { speechUrl, credentials } = platform
  const errorOf = (name: string) =>
    clients[name]!(speechUrl, credentials)(new Blob([digitsWav]), wrong).catch((error: unknown) => error)
  expect(await errorOf('fetch')).toMatchObject({
    name: 'SpeechError',
    status: 400,
    message: expect.stringMatching(sentence),
  })
  const axiosError = await errorOf('axios')
  expect(axios.isAxiosError(axiosError)).toBe(true)
  expect(withAxios.messageOf(axiosError)).toMatch(sentence)
  const kyError = await errorOf('ky')
  expect(kyError).toBeInstanceOf(HTTPError)
  expect(withKy.messageOf(kyError)).toMatch(sentence)
})

test('fetch, axios and ky report a missing token in their own way', async () => {
  const { speechUrl, credentials } = platform
  const wrongSecret = { ...credentials, clientSecret: 'another secret, which is long enough' }
  const errorOf = (name: string) =>
    clients[name]!(speechUrl, wrongSecret)(new Blob([digitsWav]), digits.fields).catch(
      (error: unknown) => error,
    )
  const rejected = /rejected the client credentials/
  for (const name of ['fetch', 'ky']) expect(isTokenError(await errorOf(name))).toBe(true)
  expect(withKy.messageOf(await errorOf('ky'))).toMatch(rejected)
  const axiosError = await errorOf('axios')
  expect(axiosError).toMatchObject({ code: 'ERR_TOKEN' })
  expect(withAxios.messageOf(axiosError)).toMatch(rejected)
})

test('axios reports its progress, and deletes a long recording that is cancelled', async () => {
  const { speechUrl, credentials } = platform
  const api = withAxios.createSpeechApi(speechUrl, tokensOf(credentials))
  const requests: string[] = []
  api.interceptors.request.use((config) => {
    requests.push(String(config.method))
    return config
  })
  const controller = new AbortController()
  const states = new Set<string>()
  const onProgress = (state: string) => {
    states.add(state)
    if (state === 'transcribing') controller.abort()
  }
  const transcript = withAxios.transcribe(api, new Blob([repeated(30)]), digits.fields, {
    signal: controller.signal,
    onProgress,
  })
  await expect(transcript).rejects.toSatisfy(axios.isCancel)
  expect([...states]).toEqual(['uploading', 'transcribing'])
  await expect.poll(() => requests).toEqual(['post', 'get', 'delete'])
})

test.each(Object.entries(clients))(
  '%s does not repeat a request that the API rejects while it is polled',
  async (_, create) => {
    const { credentials } = platform
    const polls: string[] = []
    const url = await listen((request, response) => {
      request.resume()
      const isPoll = request.method === 'GET'
      if (isPoll) polls.push(request.url!)
      response.writeHead(isPoll ? 404 : 202, { 'content-type': 'application/json' })
      response.end(JSON.stringify(isPoll ? { error: { message: 'Gone.' } } : { id: 'x', state: 'running' }))
    })
    await expect(create(url, credentials)(new Blob(['x']), digits.fields)).rejects.toThrow()
    expect(polls).toEqual(['/v1/transcriptions/x'])
  },
)
