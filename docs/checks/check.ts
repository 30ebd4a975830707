import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startPlatform } from '../../examples/run/platform.ts'
import { redisInstalled, startRedis } from '../../packages/internal-testing/src/redis/redis-server.ts'
import { checkInBrowser } from './check-browser.ts'
import { checkCommands, runCommands } from './check-commands.ts'
import { checkData } from './check-data.ts'
import { checkIndex, checkLinks, checkPlainLinks, checkPlainText, checkSize } from './check-links.ts'
import { checkNetwork, startNetwork } from './check-network.ts'
import { checkOptionTables } from './option-tables.ts'
import { checkReference } from './check-reference.ts'
import { checkSearch } from './check-search.ts'
import { assemblePrograms, compilePrograms } from './compile-programs.ts'
import { readBlocks, readPages, readPlainPages } from './read-blocks.ts'
import { docs, root, readSite } from './read-site.ts'
import { runToEnd } from '../../tools/run-process.ts'
import { exampleNames, runExamples, runPrograms } from './run-programs.ts'

const begun = performance.now()
// It takes as long as all other checks, and is independent of them.
const building = runToEnd('pnpm', ['build'], { folder: docs })
const pages = readPages(docs).set('../README.md', readFileSync(join(root, 'README.md'), 'utf8'))
const blocks = [...pages].flatMap(([page, markdown]) => readBlocks(page, markdown))
const contributing = readBlocks('../CONTRIBUTING.md', readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8'))
const releasing = readBlocks('../RELEASING.md', readFileSync(join(root, 'RELEASING.md'), 'utf8'))
const programs = assemblePrograms(blocks)
const redis = redisInstalled ? await startRedis() : undefined
const platform = await startPlatform()
const network = await startNetwork(platform.environment['AUTH_URL']!)
const needRedis = programs.filter(({ source }) => source.includes('REDIS_URL'))
const idle = programs.filter((each) => each.notRun !== undefined || (!redis && needRedis.includes(each)))

const problems = [
  ...checkPlainLinks(new Map([...pages, ...readPlainPages()])),
  ...checkIndex(pages),
  ...checkOptionTables(),
  ...checkCommands([...blocks, ...contributing, ...releasing]),
  ...(await runCommands(contributing)),
  ...(await checkData(blocks)),
  ...compilePrograms(programs),
]
say(`${pages.size} pages, ${blocks.length} blocks: ${programs.length} programs compiled`)
if (problems.length === 0) {
  const run = programs.filter((each) => !idle.includes(each))
  problems.push(...(await runPrograms(run, network, redis)))
  for (const { page, line, notRun } of idle)
    say(`${page}:${line} not run: ${notRun ?? 'install redis-server'}`)
  say(`${run.length} programs run`)
}
problems.push(...(await runExamples(redis)))
say(`${exampleNames().length} examples run`)
problems.push(...(await checkNetwork(network, platform.environment)))
network.close()
await platform.close()
await redis?.[Symbol.asyncDispose]()

const built = await building
if (built.code === 0) {
  const contents = readSite()
  const site = checkLinks(contents)
  const reference = checkReference()
  const search = await checkSearch()
  const size = checkSize(contents)
  const browser = await checkInBrowser()
  for (const { problems: found } of [site, reference, search, size]) problems.push(...found)
  problems.push(...checkPlainText(), ...(browser?.problems ?? []))
  say(
    `Site of ${contents.size} pages, ${site.links} links followed, ${search.searches} searches; ` +
      `${reference.exports} exports in the reference; at most ${Math.round(size.largest / 1000)} kB for a page`,
  )
  say(browser ? `${browser.views} pages seen in Chromium` : 'Not seen in a browser: install chromium')
} else {
  problems.push(`The site does not build:\n${built.stdout}${built.stderr}`)
}

say(`${problems.length} problems, ${Math.round((performance.now() - begun) / 1000)} s`)
for (const problem of problems) process.stderr.write(`${problem}\n`)
process.exitCode = problems.length === 0 ? 0 : 1

function say(sentence: string): void {
  process.stdout.write(`${sentence}\n`)
}
