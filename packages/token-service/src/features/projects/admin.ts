import { z } from 'zod'
import { line, optionalLine, projectName } from '../../runtime/bounds.ts'
import { createProject } from './acts.ts'
import { ms, named, operation, type OperationGroup } from '../operation.ts'

const newProject = z.strictObject({
  name: projectName,
  organizationName: optionalLine(200).default('').describe('The organisation that token responses name.'),
  developerEmail: z
    .union([z.literal(''), line(200).pipe(z.email())])
    .default('')
    .describe('The email address that token responses name.'),
})

const project = named(
  'Project',
  z.looseObject({
    id: z.string(),
    name: z.string(),
    organizationName: z.string(),
    developerEmail: z.string(),
    createdAtMs: ms,
    owners: z.array(z.string()).describe('The names of the developers who own it.'),
  }),
)

export const projectOperations: OperationGroup = {
  heading: 'Applications',
  operations: [
    operation({
      method: 'get',
      path: '/projects',
      command: 'projects',
      summary: 'List projects',
      response: z.array(project),
      async run({ storage }) {
        const projects = await storage.projects.list()
        const owners = await storage.listings.owners(projects.map(({ id }) => id))
        return projects.map((each) => ({ ...each, owners: owners.get(each.id) ?? [] }))
      },
    }),
    operation({
      method: 'post',
      path: '/projects',
      command: 'create-project',
      summary: 'Create a project',
      body: newProject,
      response: project,
      status: 201,
      run: async ({ perform }, { body, by }) => ({
        ...(await perform(by, (act) => createProject(act, body))),
        owners: [],
      }),
    }),
  ],
}
