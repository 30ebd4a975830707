import { describe, expect, it } from 'vitest'
import {
  cells,
  createApplication,
  createProject,
  plainText,
  startPortal,
  useCheapPasswords,
} from './portal-browser.ts'

useCheapPasswords()

describe('the search of everything', () => {
  it('finds applications, projects and people without accents, and shows what they are', async () => {
    const { admin, developer } = await startPortal()
    await developer('grace')
    const project = await createProject(admin, 'Équipe Données')
    await createApplication(admin, project, { name: 'Émile batch' })
    const { text } = await admin.get('/portal/search?q=EQUIPE')
    const shown = plainText(text)
    expect(shown).toMatch(/Applications\s.*Émile batch.*Équipe Données.*Approved/s)
    expect(shown).toMatch(/Projects\s.*Équipe Données.*ada/s)
    expect(plainText((await admin.get('/portal/search?q=GRA')).text)).toMatch(/People\s.*grace.*Developer/s)
    expect(plainText((await admin.get('/portal/search?q=nothing')).text)).toContain(
      'Nothing matches “nothing”',
    )
    // The last three have no letter that a name is searched by.
    for (const query of ['', '?q=%C2%B4', '?q=%CC%81', '?q=%D9%80'])
      expect((await admin.get(`/portal/search${query}`)).status).toBe(200)
  })

  it('shows developers what is theirs', async () => {
    const { admin, developer } = await startPortal()
    const grace = await developer('grace')
    await createApplication(admin, await createProject(admin, 'Speech'), { name: 'Transcriber' })
    await createProject(grace, 'Other speech')
    const shown = plainText((await grace.get('/portal/search?q=speech')).text)
    expect(shown).toContain('Other speech')
    expect(shown).not.toContain('Transcriber')
    expect(shown).not.toMatch(/People/)
    expect(plainText((await grace.get('/portal/search?q=ada')).text)).toContain('Nothing matches')
  })

  it('lists applications by their own name before those of a project or an owner', async () => {
    const { admin } = await startPortal()
    const project = await createProject(admin, 'Émile')
    for (const name of ['a', 'b', 'z emile']) await createApplication(admin, project, { name })
    const { text } = await admin.get('/portal/search?q=Emile')
    expect(cells(text, 'name').slice(0, 3)).toEqual(['z emileÉmile', 'aÉmile', 'bÉmile'])
  })

  it('leads from a client ID to its application, if the person may see that', async () => {
    const { admin, developer } = await startPortal()
    const grace = await developer('grace')
    const { clientId, path } = await createApplication(admin, await createProject(admin))
    expect((await admin.get(`/portal/search?q=${clientId}`)).location).toBe(path)
    expect((await grace.get(`/portal/search?q=${clientId}`)).location).toBeNull()
  })
})
