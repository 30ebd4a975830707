import { z } from 'zod'
import type { Project } from '../../storage/application.ts'
import type { ProjectDetails } from '../../clients/application-registry.ts'
import type { RawParameters } from '../../oauth/parameters.ts'
import type { FormState } from '../layout/form.ts'
import { line, optionalLine, parseForm, type ParsedForm } from '../layout/parse-form.ts'

const email = z.email('Enter an email address, such as ada@example.com.')
const projectForm = z.object({
  name: line(200),
  organization_name: optionalLine(200),
  developer_email: z.union([z.literal(''), line(200).pipe(email)]),
})

/** Organisation and email can be added later. */
export function parseProjectForm(form: RawParameters): ParsedForm<ProjectDetails> {
  const parsed = parseForm(projectForm, form)
  if (!parsed.data) return parsed
  const { name, organization_name: organizationName, developer_email: developerEmail } = parsed.data
  return { data: { name, organizationName, developerEmail } }
}

/** The form's values for an existing project. */
export function projectFormState({ name, organizationName, developerEmail }: Project): FormState {
  return {
    values: { name, organization_name: organizationName, developer_email: developerEmail },
    errors: {},
  }
}
