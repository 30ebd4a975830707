// @vitest-environment happy-dom
import { TokenError } from '@tokenwell/core'
import { signal, type Signal } from '@preact/signals'
import { h, render } from 'preact'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { SpeechApiError, type Transcript } from '../../src/speech/speech-api-response.ts'
import type { TokenStatus, Trial } from '../../src/tokens/token-status.ts'
import { App } from '../../src/page/app.tsx'
import { chooseExpected, type ExpectedChoice } from '../../src/page/components/expected-speech.tsx'
import { createHistory, type History } from '../../src/page/history/history.ts'
import type { Route, Transcriber, TranscriberOptions } from '../../src/page/transcribing/transcriber.ts'

const player = vi.hoisted(() => ({ play: vi.fn(), listeners: new Map<string, (value?: number) => void>() }))
vi.mock('wavesurfer.js', () => ({
  default: {
    create: () => ({
      on: (event: string, listener: () => void) => void player.listeners.set(event, listener),
      loadBlob: () => Promise.resolve(),
      setOptions() {},
      isPlaying: () => true,
      play: player.play,
      destroy() {},
    }),
  },
}))
vi.mock('wavesurfer.js/plugins/regions', () => ({
  default: { create: () => ({ clearRegions() {}, addRegion() {} }) },
}))

interface Call extends TranscriberOptions {
  readonly route: Route
  readonly recording: Blob
  finish(transcript: Transcript): void
  fail(error: unknown): void
}

const segment = (start: number, end: number, text: string) => ({ start, end, text, confidence: 1 })
const transcript: Transcript = {
  text: '4 2',
  durationSeconds: 2,
  segments: [segment(0.5, 1, '4'), segment(1, 1.5, '2')],
}

let calls: Call[]
let followers: Record<Route, (status: TokenStatus | undefined) => void>
let history: History
let trials: Trial[]
let choice: Signal<ExpectedChoice>

function scripted(route: Route): Transcriber {
  return {
    transcribe: (recording, options) => {
      const { promise, resolve, reject } = Promise.withResolvers<Transcript>()
      options.signal.addEventListener('abort', () => reject(options.signal.reason))
      calls.push({ ...options, route, recording, finish: resolve, fail: reject })
      return promise
    },
    followToken: (listener) => {
      followers[route] = listener
      return () => {}
    },
    ...(route === 'server' && { try: async (trial: Trial) => void trials.push(trial) }),
  }
}

beforeEach(async () => {
  calls = []
  trials = []
  followers = {} as typeof followers
  player.play.mockClear()
  const transcribers = { direct: scripted('direct'), server: scripted('server') }
  const route = signal<Route>('server')
  history = createHistory(transcribers, () => route.value)
  const settings = { speechUrl: 'https://speech.example.com', trials: true }
  choice = chooseExpected()
  render(h(App, { settings, transcribers, route, choice, history }), document.body)
  await settled()
})
afterEach(() => {
  localStorage.clear()
  render(null, document.body)
  document.body.replaceChildren()
  vi.unstubAllGlobals()
})

/** Waits until what is known has been rendered. */
const settled = () => new Promise((resolve) => setTimeout(resolve))
const all = (selector: string) => Array.from(document.querySelectorAll<HTMLElement>(selector))
const text = () => document.body.textContent
const button = (name: string): HTMLButtonElement => {
  const named = (each: HTMLElement) => (each.getAttribute('aria-label') ?? each.textContent.trim()) === name
  const found = all('button').find(named)
  if (!found) throw new Error(`There is no button "${name}".`)
  return found as HTMLButtonElement
}
async function click(element: HTMLElement): Promise<void> {
  element.click()
  await settled()
}
const wav = (name = 'order.wav') => new File(['RIFF    WAVE'], name)
async function add(...files: File[]): Promise<void> {
  for (const file of files) history.add(file.name, file, { grammar: 'digits' })
  await settled()
}
async function choose(files: File[]): Promise<void> {
  const input = document.querySelector<HTMLInputElement>('input[type=file]')!
  Object.defineProperty(input, 'files', { value: files, configurable: true })
  input.dispatchEvent(new Event('change', { bubbles: true }))
  await expect.poll(() => all('[role=alert] p').length + calls.length).toBeGreaterThanOrEqual(files.length)
}

test('sends recordings by the chosen route', async () => {
  await add(wav())
  const direct = all('label').find((label) => label.textContent.includes('Directly'))!
  await click(direct.querySelector('input')!)
  await add(wav())
  expect(calls.map(({ route }) => route)).toEqual(['server', 'direct'])
})

test('names invalid files and transcribes the others', async () => {
  const large = new File(['RIFF    WAVE', new Uint8Array(26 * 1024 * 1024)], 'large.wav')
  await choose([new File(['These are notes.'], 'notes.txt'), new File([], 'empty.wav'), large, wav()])
  expect(calls).toHaveLength(1)
  expect(all('[role=alert] p').map(({ textContent }) => textContent)).toEqual([
    'notes.txt is not a recording that this browser can read.',
    'empty.wav is empty.',
    'large.wav is too large. The speech API accepts up to 25 MiB.',
  ])
})

test('shows the progress of a recording, in words and to screen readers, and its transcript', async () => {
  await add(wav())
  calls[0]!.onUpload(0.25)
  await settled()
  expect(text()).toContain('Uploading, 25%')
  calls[0]!.onProgress?.(0.5)
  await settled()
  expect(text()).toContain('Transcribing, 50%')
  expect(text()).toContain('order.wav is being transcribed.')
  calls[0]!.finish(transcript)
  await settled()
  expect(text()).toContain('order.wav: 4 2')
  expect(text()).toContain('This page’s server called the speech API.')
})

describe('a transcript', () => {
  beforeEach(async () => {
    await add(wav())
    calls[0]!.finish(transcript)
    await settled()
  })
  const words = () => all('.words button')

  test('has each word under its sound', () => {
    expect(words().map(({ textContent, style }) => [textContent, style.left, style.width])).toEqual([
      ['4', '25%', '25%'],
      ['2', '50%', '25%'],
    ])
  })

  test('plays a word on a click and marks it while it plays', async () => {
    await click(words()[1]!)
    expect(player.play).toHaveBeenCalledWith(1, 1.5)
    player.listeners.get('timeupdate')!(1.2)
    await settled()
    expect(words().map((word) => word.getAttribute('aria-current'))).toEqual(['false', 'true'])
  })

  test('is one stop of the Tab key, and the arrow keys move from word to word', async () => {
    expect(words().map(({ tabIndex }) => tabIndex)).toEqual([0, -1])
    words()[0]!.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true }))
    await settled()
    expect(document.activeElement).toBe(words()[1])
    words()[1]!.dispatchEvent(new KeyboardEvent('keydown', { key: 'Home', bubbles: true }))
    await settled()
    expect(document.activeElement).toBe(words()[0])
  })

  test('is exported as TXT, SRT and JSON from one menu, which then closes', async () => {
    const saved: string[] = []
    const download = vi.spyOn(HTMLAnchorElement.prototype, 'click')
    download.mockImplementation(function (this: HTMLAnchorElement) {
      saved.push(this.download)
    })
    const menu = document.querySelector<HTMLDetailsElement>('details.menu')!
    for (const format of ['Text (TXT)', 'Subtitles (SRT)', 'JSON']) {
      menu.open = true
      await click(button(format))
      expect(menu.open).toBe(false)
    }
    expect(saved).toEqual(['order.txt', 'order.srt', 'order.json'])
    menu.open = true
    menu.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }))
    expect(menu.open).toBe(false)
    download.mockRestore()
  })

  test('is copied', async () => {
    const writeText = vi.fn(() => Promise.resolve())
    vi.stubGlobal('navigator', { clipboard: { writeText } })
    await click(button('Copy text'))
    expect(writeText).toHaveBeenCalledWith('4 2')
    expect(button('Copied')).toBeDefined()
  })

  test('shows the warnings of the speech API instead of words', async () => {
    await add(wav('silence.wav'))
    const warnings = [{ code: 'silent', message: 'The recording is silent.' }]
    calls[1]!.finish({ text: '', durationSeconds: 1, segments: [], warnings })
    await settled()
    expect(document.querySelector('.warning')!.textContent).toBe('The recording is silent.')
    expect(words()).toEqual([])
  })
})

describe('what is spoken', () => {
  const select = () => document.querySelector<HTMLSelectElement>('#expected')!
  const chooseKind = async (kind: string): Promise<void> => {
    select().value = kind
    select().dispatchEvent(new Event('change', { bubbles: true }))
    await settled()
  }
  const write = async (text: string): Promise<void> => {
    const field = document.querySelector('textarea')!
    field.value = text
    field.dispatchEvent(new Event('input', { bubbles: true }))
    await settled()
  }

  test('is sent with the recordings that are added', async () => {
    const added = (count: number) => expect.poll(() => calls).toHaveLength(count)
    await chooseKind('numbers')
    await choose([wav()])
    await added(1)
    await chooseKind('phrases')
    await write('Open the door.\n\nClose the door.')
    await choose([wav()])
    await added(2)
    await chooseKind('text')
    await write('One. Two.')
    await choose([wav()])
    await added(3)
    expect(calls.map(({ expected }) => expected)).toEqual([
      { grammar: 'numbers' },
      { grammar: 'phrases', phrases: ['Open the door.', 'Close the door.'] },
      { grammar: 'text', text: 'One. Two.' },
    ])
  })

  test('must be written before a recording is added', async () => {
    for (const [kind, message] of [
      ['phrases', 'Write the sentences that may be spoken first.'],
      ['text', 'Write the text that is spoken first.'],
    ] as const) {
      await chooseKind(kind)
      await choose([wav()])
      await expect.poll(() => document.querySelector('[role=alert]')?.textContent).toBe(message)
    }
    expect(calls).toEqual([])
  })

  test('is kept by the browser', async () => {
    await chooseKind('text')
    await write('One. Two.')
    expect(chooseExpected().value).toEqual({ kind: 'text', phrases: '', text: 'One. Two.' })
    localStorage.setItem('expected', '{"kind":"songs"}')
    expect(chooseExpected().value.kind).toBe('digits')
  })

  test('can be corrected for a recording that was transcribed', async () => {
    await add(wav())
    calls[0]!.finish({ ...transcript, uncertain: true })
    await settled()
    expect(document.querySelector('.warning')!.textContent).toBe(
      'Part of this sounds unlike digits, and may be something else.',
    )
    await chooseKind('codes')
    await click(button('Transcribe as letters and digits'))
    expect(calls[1]!.expected).toEqual({ grammar: 'codes' })
    expect(text()).toContain('Expected: letters and digits.')
    expect(all('button').map(({ textContent }) => textContent)).not.toContain(
      'Transcribe as letters and digits',
    )
  })
})

test('a text follows the recording, and says where it is uncertain', async () => {
  await add(wav())
  const segments = ['Turn', 'on', 'the', 'lights.'].map((word, index) => segment(index, index + 1, word))
  calls[0]!.finish({
    ...transcript,
    segments: [...segments, { ...segment(4, 5, 'Please'), confidence: 0.2 }],
  })
  await settled()
  const words = () => all('.words.text button')
  expect(words().map(({ textContent, title }) => [textContent, title])).toEqual([
    ['Turn', ''],
    ['on', ''],
    ['the', ''],
    ['lights.', ''],
    ['Please', 'Uncertain'],
  ])
  player.listeners.get('timeupdate')!(2.5)
  await settled()
  expect(words().findIndex((word) => word.getAttribute('aria-current') === 'true')).toBe(2)
  await click(words()[3]!)
  expect(player.play).toHaveBeenCalledWith(3, 4)
})

describe('a failure', () => {
  const tokenError = (status?: number) => new TokenError({ kind: 'unavailable', message: 'failed', status })
  test.each<[string, unknown]>([
    ['The token service rejected the client ID or secret of this page’s server.', tokenError(502)],
    ['The token service is down or busy.', tokenError(503)],
    ['This page’s server returned no token (status 404).', tokenError(404)],
    ['This page’s server could not be reached to get a token.', tokenError()],
    ['This page’s server could not be reached.', new TypeError('Failed to fetch')],
  ])('has a text of its own, and the recording is sent again on a click: %s', async (message, error) => {
    await add(wav())
    calls[0]!.fail(error)
    await settled()
    expect(document.querySelector('.error p')!.textContent).toBe(`${message} The recording was kept.`)
    await click(button('Try again'))
    calls[1]!.finish(transcript)
    await settled()
    expect(calls[1]!.recording).toBe(calls[0]!.recording)
    expect(all('.error')).toEqual([])
  })

  test('shows the error message of the speech API', async () => {
    await add(wav())
    calls[0]!.fail(new SpeechApiError('The file is cut off.', 422, 'truncated'))
    await settled()
    expect(document.querySelector('.error p')!.textContent).toBe('The file is cut off.')
  })

  test('has its reason in the history, without what to do', async () => {
    await add(wav(), wav())
    for (const call of calls) call.fail(tokenError(503))
    await settled()
    const reason = 'The token service is down or busy.'
    expect(all('.history .summary').map(({ textContent }) => textContent)).toEqual([reason, reason])
  })

  test('starts a new session after the old one has expired', async () => {
    const requests: string[] = []
    vi.stubGlobal('fetch', (request: Request) => {
      requests.push(`${request.method} ${new URL(request.url).pathname}`)
      return Promise.resolve(new Response(null, { status: 204 }))
    })
    await add(wav())
    calls[0]!.fail(new SpeechApiError('Your session has expired.', 401, 'session_expired'))
    await settled()
    expect(text()).toContain('Your session has expired. The recording was kept.')
    await click(button('Start a new session and try again'))
    await expect.poll(() => calls).toHaveLength(2)
    expect(requests).toEqual(['POST /api/sessions'])
  })
})

describe('several recordings', () => {
  const names = ['a.wav', 'b.wav', 'c.wav', 'd.wav']
  beforeEach(() => add(...names.map(wav)))
  const states = () => history.entries.value.map(({ name, progress }) => `${name} ${progress.state}`)

  test('are sent three at a time, with time and duration in the history', async () => {
    expect(calls).toHaveLength(3)
    expect(all('progress[aria-label]')).toHaveLength(4)
    calls[0]!.finish(transcript)
    await settled()
    expect(calls).toHaveLength(4)
    const [duration, time] = all('.history .time').slice(-2)
    expect([duration!.textContent, time!.textContent]).toEqual(['2 s', expect.stringMatching(/^\d/)])
  })

  test('are cancelled one by one, or all', async () => {
    await click(button('Cancel b.wav'))
    expect(states()).toContain('b.wav cancelled')
    await click(button('Cancel all'))
    expect(states().filter((state) => state.endsWith('cancelled'))).toHaveLength(names.length)
    expect(calls.every(({ signal: { aborted } }) => aborted)).toBe(true)
    await click(button('Transcribe again'))
    await expect.poll(() => states()[0]).toBe('d.wav uploading')
  })
})

test('restores a removed recording, or dismisses it, and keeps the focus on the page', async () => {
  await add(wav())
  calls[0]!.finish(transcript)
  await settled()
  await click(button('Remove'))
  expect(text()).toContain('Removed order.wav.')
  expect(document.activeElement).toBe(button('Undo'))
  await click(button('Undo'))
  expect(history.entries.value).toHaveLength(1)
  await click(button('Remove'))
  await click(button('Dismiss'))
  expect(history.entries.value).toEqual([])
  expect(document.activeElement).toBe(button('Choose files'))
})

test('offers to revoke, to expire and an outage, and says what follows', async () => {
  const status = { tokenRequests: 0, refreshes: 0, apiCalls: 0, steps: [] }
  followers.server(status)
  await settled()
  expect(['Revoke', 'Expire', 'Outage'].map((name) => button(name).disabled)).toEqual([true, true, false])
  followers.server({ ...status, lifetimeMs: 60_000, remainingMs: 59_500 })
  await settled()
  for (const [name, outcome] of [
    ['Revoke', 'the next call gets a new token, and is repeated'],
    ['Expire', 'The next call requests a new token.'],
    ['Outage', 'Calls that have a cached token use it meanwhile.'],
  ] as const) {
    await click(button(name))
    expect(text()).toContain(outcome)
  }
  expect(trials).toEqual(['revoked', 'expired', 'outage'])
  await click(document.querySelector<HTMLInputElement>('input[value=direct]')!)
  expect(text()).not.toContain('Try it')
})

test('shows the steps of the token, and that the server is gone', async () => {
  const at = Date.UTC(2026, 0, 1)
  const status = { tokenRequests: 2, refreshes: 1, apiCalls: 3, lifetimeMs: 60_000, remainingMs: 59_500 }
  followers.server({
    ...status,
    steps: [
      { what: 'requested', count: 1, at },
      { what: 'used', count: 3, at },
      { what: 'failed', why: 'not available (503)', count: 2, at },
    ],
  })
  await settled()
  expect(all('.steps li').map(({ firstChild, textContent }) => firstChild && textContent)).toEqual([
    expect.stringMatching(/^requested\d/),
    expect.stringMatching(/^used ×3\d/),
    expect.stringMatching(/^failed ×2: not available \(503\)\d/),
  ])
  expect(document.querySelector('[data-testid=expires-in]')!.textContent).toBe('1:00')
  followers.server(undefined)
  await settled()
  expect(document.querySelector('.gone')!.textContent).toContain('This page’s server does not respond.')
  followers.server({ ...status, steps: [] })
  await settled()
  expect(all('.gone')).toEqual([])
})
