import { z } from 'zod'
import { NameTaken, type DeveloperStorage } from '../people/storage.ts'
import { line } from '../../runtime/bounds.ts'

// UTS 39, section 5.2, "highly restrictive": one of the recommended scripts (UAX 31, table 5), or what is written together.
const recommended =
  'Latn Arab Armn Beng Bopo Cyrl Deva Ethi Geor Grek Gujr Guru Hang Hani Hebr Hira Kana Khmr Knda Laoo Mlym Mymr Orya Sinh Taml Telu Thaa Thai Tibt'
const together = ['Latn Hani Hira Kana', 'Latn Hani Bopo', 'Latn Hani Hang']
const writingSystems = [...recommended.split(' '), ...together].map((scripts) => {
  const allowed = ['Zyyy', 'Zinh', ...scripts.split(' ')].map((script) => String.raw`\p{scx=${script}}`)
  return new RegExp(`^[${allowed.join('')}]*$`, 'u')
})
// Letters that look like Latin ones: a name of these alone can be read as another.
const lookalikes = /^[аеорсухіјѕһԁԛԝвмнтк αικνορτυχγ օսոհցԼ._@+\p{Nd}-]+$/u
const reserved = ['administration', 'administrator', 'api', 'command', 'configuration', 'service', 'somebody']

/** UTS 39, section 4: names that look alike have the same. */
const skeleton = (name: string) => name.replaceAll('0', 'o').replaceAll('1', 'l').replaceAll('rn', 'm')

/** The name of a developer: an identifier (UAX 31) that cannot be mistaken for another, in lower case. */
export const developerName = line(60)
  .transform((text) => text.normalize('NFKC').toLowerCase())
  .pipe(
    z
      .string()
      .regex(
        /^[\p{XID_Start}\d][\p{XID_Continue}.@+ -]*$/u,
        'Start with a letter or digit, and use only letters, digits, spaces and . _ @ + -',
      )
      .regex(/^\P{Default_Ignorable_Code_Point}*$/u, 'Remove invisible characters.')
      .regex(/^(?:\d|\P{Nd})*$/u, 'Use the digits 0 to 9.')
      .refine((name) => writingSystems.some((system) => system.test(name)), 'Use the letters of one script.')
      .refine(
        (name) => !lookalikes.test(name) || /^\p{ASCII}*$/u.test(name),
        'Use Latin letters for this name.',
      )
      .refine((name) => !reserved.includes(skeleton(name.replace(/^the /, ''))), 'This name is reserved.'),
  )

/** @throws {NameTaken} for a name that can be mistaken for that of somebody else */
export async function rejectLookalike(name: string, developers: DeveloperStorage): Promise<void> {
  const others = (await developers.list()).filter((developer) => developer.name !== name)
  if (others.some((other) => skeleton(other.name) === skeleton(name)))
    throw new NameTaken('This name looks like one that is taken.')
}
