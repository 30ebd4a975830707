import type { z } from 'zod'
import { describeIssue, firstIssue } from './describe-issue.ts'
import { UsageError } from './usage-error.ts'

/**
 * Parses a value of a request.
 *
 * @param whole names the value, where no part of it is the cause
 * @throws {@link UsageError} that names the first invalid part
 */
export function parseValue<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  whole = 'The request body',
): z.output<Schema> {
  const result = schema.safeParse(value, { error: describeIssue })
  if (result.success) return result.data
  const [name, what] = firstIssue(result.error)
  throw new UsageError(`${name || whole} ${what}.`)
}
