import { z } from 'zod'
import { NameTaken, type DeveloperStorage } from '../people/storage.ts'
import { line } from '../../runtime/bounds.ts'
import { notDeceptive, skeleton, unifiedName } from '../../runtime/lookalikes.ts'

const reserved = ['administration', 'administrator', 'api', 'command', 'configuration', 'service', 'somebody']

/** The name of a developer: an identifier (UAX 31) that cannot be mistaken for another, in lower case. */
export const developerName = line(60)
  .transform(unifiedName)
  .pipe(
    z
      .string()
      .regex(
        /^[\p{XID_Start}\d][\p{XID_Continue}.@+ -]*$/u,
        'Start with a letter or digit, and use only letters, digits, spaces and . _ @ + -',
      )
      .check(notDeceptive)
      .refine((name) => !reserved.includes(skeleton(name.replace(/^the /, ''))), 'This name is reserved.'),
  )

/** @throws {NameTaken} for a name that can be mistaken for that of somebody else */
export async function rejectLookalike(name: string, developers: DeveloperStorage): Promise<void> {
  const others = (await developers.list()).filter((developer) => developer.name !== name)
  if (others.some((other) => skeleton(other.name) === skeleton(name)))
    throw new NameTaken('This name looks like one that is taken.')
}
