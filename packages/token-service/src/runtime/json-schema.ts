import { z } from 'zod'

export type JsonSchema = Record<string, unknown>

export function jsonSchema(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io: 'input',
    // Lists are readonly in our types only.
    override: ({ jsonSchema: converted }) => void delete converted.readOnly,
  })
  return rest
}

/** A form's schema; API clients fill its fields with `placeholders`. */
export function formSchema(schema: z.ZodObject, placeholders: Readonly<Record<string, string>>): JsonSchema {
  const converted = jsonSchema(schema)
  const properties = Object.entries(schema.shape).map(([name, field]) => [
    name,
    { ...jsonSchema(field as z.ZodType), default: placeholders[name] },
  ])
  return { ...converted, properties: Object.fromEntries(properties) }
}
