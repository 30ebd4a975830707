/** A setting is missing or invalid. The message is one sentence that names it. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError'
}
