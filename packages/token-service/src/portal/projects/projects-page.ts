import { html } from '@remix-run/html-template'
import type { ListedProject, ListPage } from '../../features/search/listings.ts'
import { list, named, names, type Column, type ListState } from '../layout/list.ts'
import type { PageContent } from '../layout/page.ts'
import { formatCount } from '../layout/paging.ts'
import { absent, relativeTime } from '../layout/time.ts'
import type { DeveloperRequest } from '../portal-request.ts'

export const projectOrders = ['name', '-name', '-created', 'created'] as const

export interface ProjectsContent extends ListPage<ListedProject> {
  readonly owners: ReadonlyMap<string, readonly string[]>
  readonly state: ListState
  readonly nowMs: number
}

export function projectsPage(request: DeveloperRequest, content: ProjectsContent): PageContent {
  const { paths } = request
  const { items, total, state } = content
  const body = list(columns(request, content), items, {
    label: 'Projects',
    browsing: {
      path: paths.projects,
      state,
      total,
      noun: 'projects',
      search: 'Name or organisation',
      orders: [
        ['name', 'Name'],
        ['-created', 'Created'],
      ],
    },
    empty: html`<div class="empty">
      <h2>No projects yet</h2>
      <p class="muted">
        A project contains applications, each with a client ID and secrets for the APIs that it calls.
      </p>
      <p><a class="button" href="${paths.start}">Get your first token</a></p>
    </div>`,
  })
  const actions = html`<a class="button" href="${paths.newProject}">New project</a>`
  return { title: 'Projects', body, actions }
}

function columns(
  { paths }: DeveloperRequest,
  { owners, nowMs }: ProjectsContent,
): readonly Column<ListedProject>[] {
  return [
    {
      label: 'Project',
      kind: 'name',
      order: 'name',
      cell: ({ project: { id, name, organizationName, deletesAtMs } }) =>
        named({
          name,
          href: paths.project(id),
          below: deletesAtMs === undefined ? organizationName : 'Deleted',
        }),
    },
    {
      label: 'Owners',
      kind: 'text',
      leaves: 1,
      cell: ({ project }) => {
        const all = owners.get(project.id) ?? []
        return all.length === 0 ? absent('no owner') : names(all)
      },
    },
    { label: 'Applications', kind: 'number', cell: ({ applications }) => formatCount(applications) },
    {
      label: 'Created',
      kind: 'time',
      leaves: 2,
      order: '-created',
      cell: ({ project }) => relativeTime(project.createdAtMs, nowMs),
    },
  ]
}
