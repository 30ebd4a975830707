import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { createTemporaryFile, removeStaleFiles } from '../../src/temporary-files/temporary-file.ts'
import { startIntrospectionServer, addressOf, startProcess } from '../support/introspection-server.ts'
import { sendRaw } from '../support/raw-request.ts'
import { VALID_TOKEN } from '../support/test-api.ts'
import { digits as sample } from '../support/recordings.ts'

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
const killed = fileURLToPath(new URL('killed-process.ts', import.meta.url))

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'left-'))
  vi.stubEnv('TMPDIR', folder)
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await rm(folder, { recursive: true })
})

/** The folder of a killed process. */
async function leaveStaleFolder(): Promise<string> {
  const before = await readdir(folder)
  const child = execFile(process.execPath, [killed], { env: { TMPDIR: folder } })
  expect(await once(child, 'exit')).toEqual([null, 'SIGKILL'])
  const [name] = (await readdir(folder)).filter((found) => !before.includes(found))
  expect((await readdir(join(folder, name!))).toSorted()).toEqual(['owner.sock', 'recording.wav'])
  return join(folder, name!)
}

test('a starting server removes the files of a killed one, but not those of a running one', async () => {
  await using tokenService = await startIntrospectionServer()
  tokenService.tokens.set(VALID_TOKEN, { active: true, api_products: ['speech-to-text'] })
  const start = async () => {
    const server = startProcess(main, tokenService.authUrl, { TMPDIR: folder })
    onTestFinished(() => void server.kill('SIGKILL'))
    return { server, url: await addressOf(server.stdout) }
  }
  /** Uploads half a recording that is to be a job, and waits for the file that it is written to. */
  const uploadHalf = async (url: string) => {
    const before = await readdir(folder)
    const headers = { 'content-length': String(sample.wav.length), prefer: 'respond-async' }
    const request = sendRaw(url, headers, sample.wav.subarray(0, 20_000))
    onTestFinished(() => request[Symbol.dispose]())
    const added = async () => (await readdir(folder)).filter((name) => !before.includes(name))
    await expect.poll(added).toHaveLength(1)
    return { request, name: (await added())[0]! }
  }

  const [one, other] = [await start(), await start()]
  const left = await uploadHalf(one.url)
  const atWork = await uploadHalf(other.url)
  one.server.kill('SIGKILL')
  await once(one.server, 'exit')
  expect((await readdir(folder)).toSorted()).toEqual([left.name, atWork.name].toSorted())

  const next = await start()
  expect(await readdir(folder)).toEqual([atWork.name])

  atWork.request.socket.write(sample.wav.subarray(20_000))
  const accepted = await atWork.request.received('"state"')
  const job = `${other.url}${/location: (\S+)/.exec(accepted)?.[1]}`
  const result = async () =>
    (await fetch(job, { headers: { authorization: `Bearer ${VALID_TOKEN}` } })).json()
  await expect.poll(result).toMatchObject({ state: 'done', result: { text: sample.text } })
  for (const { server } of [other, next]) {
    server.kill('SIGTERM')
    expect(await once(server, 'exit')).toEqual([0, null])
  }
  expect(await readdir(folder)).toEqual([])
})

test('removes nothing else', async () => {
  await rename(await leaveStaleFolder(), join(folder, 'elsewhere'))
  await symlink(join(folder, 'elsewhere'), join(folder, 'speech-api-link'))
  for (const name of ['speech-api-notebook', 'speech-api-no-socket', 'speech-api-a-link']) {
    await mkdir(join(folder, name))
    await writeFile(join(folder, name, 'recording.wav'), 'precious')
  }
  await writeFile(join(folder, 'speech-api-no-socket', 'owner.sock'), 'as a file')
  await symlink(join(folder, 'elsewhere', 'owner.sock'), join(folder, 'speech-api-a-link', 'owner.sock'))
  await writeFile(join(folder, 'speech-api-file'), 'precious')
  const all = async () => (await readdir(folder, { recursive: true })).toSorted()
  const before = await all()
  await removeStaleFiles()
  expect(await all()).toEqual(before)
})

test('does not remove files of another user', async () => {
  await leaveStaleFolder()
  // Changing the owner of a folder requires root, so this process pretends to be another user.
  const user = vi.spyOn(process, 'getuid').mockReturnValue(process.getuid!() + 1)
  onTestFinished(() => user.mockRestore())
  await removeStaleFiles()
  expect(await readdir(folder)).toHaveLength(1)
})

test('removes a symbolic link but not its target', async () => {
  const left = await leaveStaleFolder()
  await mkdir(join(folder, 'elsewhere'))
  await writeFile(join(folder, 'elsewhere', 'kept'), 'precious')
  await symlink(join(folder, 'elsewhere'), join(left, 'link'))
  await removeStaleFiles()
  expect(await readdir(folder, { recursive: true })).toEqual(['elsewhere', join('elsewhere', 'kept')])
})

test('removes all stale files, and no others, when many processes start together', async () => {
  for (let number = 0; number < 3; number++) await leaveStaleFolder()
  const started = await Promise.all(
    Array.from({ length: 20 }, async (_, number) => {
      const [file] = await Promise.all([
        createTemporaryFile((handle) => handle.write(String(number))),
        removeStaleFiles(),
      ])
      return file
    }),
  )
  const texts = await Promise.all(started.map(({ path }) => readFile(path, 'utf8')))
  expect(texts).toEqual(started.map((_, number) => String(number)))
  expect(await readdir(folder)).toHaveLength(20)
  await Promise.all(started.map((file) => file[Symbol.asyncDispose]()))
  expect(await readdir(folder)).toEqual([])
})

test('creates temporary files where the path is too long for a socket', async () => {
  const long = join(folder, 'x'.repeat(100))
  await mkdir(long)
  vi.stubEnv('TMPDIR', long)
  const file = await createTemporaryFile((handle) => handle.write('text'))
  await removeStaleFiles()
  expect(await readFile(file.path, 'utf8')).toBe('text')
  await file[Symbol.asyncDispose]()
  expect(existsSync(file.path)).toBe(false)
  expect(await readdir(folder)).toEqual(['x'.repeat(100)])
})
