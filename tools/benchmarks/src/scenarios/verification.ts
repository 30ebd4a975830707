import { nanoseconds, ratio, ranked } from '../method/figures.ts'
import { roundRobin, runProcess } from '../method/run-process.ts'
import { jwtLibraries, jwtLibraryIds } from '../verifiers/jwt-libraries.ts'
import { verifierIds, verifiers } from '../verifiers/verifiers.ts'
import type { Result, Table } from '../result.ts'

const rounds = 5

interface Found {
  readonly protectedNs: number
  readonly openNs: number
}

export async function verification(): Promise<Result> {
  const found = await roundRobin(verifierIds, rounds, (id) =>
    runProcess<Found>('scenarios/verification-process.ts', { id }),
  )
  const entries = [...found].map(([id, results]) => {
    const fastest = (figure: keyof Found): number => Math.min(...results.map((each) => each[figure]))
    const { name, framework, checks } = verifiers[id]
    return {
      name,
      framework,
      checks,
      value: fastest('protectedNs') - fastest('openNs'),
      openNs: fastest('openNs'),
    }
  })
  const ofFramework = (framework: string) => entries.filter((entry) => entry.framework === framework)
  const oursNs = (framework: string): number => ofFramework(framework)[0]!.value
  const libraries = await measureLibraries()
  return {
    title: 'Verification',
    note: `An API checks the token of a request that it has seen before. The figure is the time of a request to a protected route minus that to an open route of the same application, called without a network: the fastest of many short windows in ${rounds} rounds. Each verifier runs in a separate process, in turn. The last table is without a framework: one token that the library has verified before, and tokens that it has not (RS256).`,
    tables: [
      ...['Express', 'Fastify'].map((framework) => ({
        title: `Cost of verifying a token in ${framework}`,
        columns: ['verifier', 'adds', 'relative to ours, opaque token', 'checks', 'the open route'],
        rows: ranked(ofFramework(framework)).map(({ name, value, checks, openNs }) => [
          name,
          nanoseconds(value),
          ratio(value / oursNs(framework)),
          checks,
          nanoseconds(openNs),
        ]),
      })),
      libraryTable(libraries),
    ],
    charts: ['Express', 'Fastify'].map((framework) => ({
      name: `verification-${framework.toLowerCase()}`,
      title: `Cost of verifying a token in ${framework}`,
      bars: ranked(ofFramework(framework)).map(({ name, value }) => ({
        label: name,
        value,
        text: nanoseconds(value),
      })),
    })),
    overview: [],
    comparisons: [
      ...['Express', 'Fastify'].map((framework) => ({
        what: `verifying a token in ${framework}`,
        entries: ofFramework(framework),
        because: 'Ours checks again after 10 s whether the token was revoked, or its key removed',
      })),
      {
        what: 'verifying a new JWT',
        entries: libraries.map(({ name, newNs }) => ({ name, value: newNs })),
        because:
          'Ours reads a token before it verifies it, to choose among issuers, then hashes and remembers it: the next request with it costs a fraction',
      },
    ],
  }
}

interface FoundLibrary {
  readonly knownNs: number
  readonly newNs: number
}

async function measureLibraries() {
  const found = await roundRobin(jwtLibraryIds, rounds, (id) =>
    runProcess<FoundLibrary>('scenarios/jwt-process.ts', { id }),
  )
  return [...found].map(([id, results]) => {
    const fastest = (figure: keyof FoundLibrary): number => Math.min(...results.map((each) => each[figure]))
    return { ...jwtLibraries[id], value: fastest('knownNs'), newNs: fastest('newNs') }
  })
}

function libraryTable(libraries: Awaited<ReturnType<typeof measureLibraries>>): Table {
  const [ours] = libraries
  return {
    title: 'A JWT that was verified before, and one that is new',
    columns: ['library', 'verified before', 'relative to ours', 'new', 'relative to ours', 'checks'],
    rows: ranked(libraries).map(({ name, value, newNs, checks }) => [
      name,
      nanoseconds(value),
      ratio(value / ours!.value),
      nanoseconds(newNs),
      ratio(newNs / ours!.newNs),
      checks,
    ]),
  }
}
