import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { introspect } from '../test-service.ts'
import { shown, useCheapPasswords, withApplication } from './portal-browser.ts'

useCheapPasswords()

const run = promisify(execFile)

const programs = {
  curl: (file: string) => ['sh', file],
  typescript: (file: string) => [process.execPath, '--conditions=@tokenwell/source', file],
} as const

it('shows snippets with the new secret that get a token as they are', async () => {
  const { admin, authUrl, application } = await withApplication()
  // Here, so that the program finds our packages.
  const folder = await mkdtemp(join(import.meta.dirname, 'snippets-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const { text } = await admin.post(`${application.path}/secrets`, {
    overlap: 'day',
    submission_id: crypto.randomUUID(),
  })
  for (const [language, command] of Object.entries(programs)) {
    const snippet = shown(text, `snippet-${language}`)
    const file = join(folder, language === 'typescript' ? 'snippet.mts' : language)
    await writeFile(file, snippet)
    const [program = '', ...args] = command(file)
    const { stdout } = await run(program, args)
    const token = /"access_token":"([^"]+)"/.exec(stdout)?.[1] ?? stdout.trim()
    const { body } = await introspect(authUrl, token)
    expect([language, body]).toEqual([language, expect.objectContaining({ active: true })])
  }
})
