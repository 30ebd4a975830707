const key = 'tokenwell-tabs'
/** Of code, and of panels. */
const groups = '.vp-code-group, .clients'

/** A chosen tab, such as a package manager, is chosen in every group of tabs, on the next pages too. */
export function followChoices(): void {
  if (typeof document === 'undefined') return
  addEventListener('hashchange', showTarget)
  document.addEventListener('change', ({ target }) => {
    if (!(target instanceof HTMLInputElement) || !target.closest(groups)) return
    const name = nameOf(target)
    localStorage.setItem(key, JSON.stringify([name, ...chosenTabs().filter((other) => other !== name)]))
    const { top } = target.getBoundingClientRect()
    showTab(name)
    // Groups above may have changed their height.
    scrollBy(0, target.getBoundingClientRect().top - top)
  })
}

export function showChosenTabs(): void {
  for (const name of chosenTabs().toReversed()) showTab(name)
  showTarget()
}

/** A link can lead to a heading in a panel that is not shown. */
function showTarget(): void {
  const target =
    location.hash === '' ? null : document.getElementById(decodeURIComponent(location.hash.slice(1)))
  const panel = target?.closest('.clients > .blocks > :not(.active)')
  const tabs = panel?.closest('.clients')?.querySelectorAll<HTMLInputElement>(':scope > .tabs input')
  const input = tabs?.[[...(panel?.parentElement?.children ?? [])].indexOf(panel!)]
  if (!input) return
  showTab(nameOf(input))
  // After the theme, which scrolls to where a hidden heading would be.
  requestAnimationFrame(() => target?.scrollIntoView())
}

function chosenTabs(): string[] {
  return JSON.parse(localStorage.getItem(key) ?? '[]') as string[]
}

function nameOf(input: HTMLInputElement): string {
  return input.labels?.[0]?.textContent ?? ''
}

function showTab(name: string): void {
  for (const group of document.querySelectorAll(groups)) {
    const inputs = [...group.querySelectorAll<HTMLInputElement>(':scope > .tabs input')]
    const at = inputs.findIndex((input) => nameOf(input) === name)
    const blocks = group.querySelector(':scope > .blocks')?.children
    if (at < 0 || blocks?.[at] === undefined) continue
    inputs[at]!.checked = true
    for (const [index, block] of [...blocks].entries()) block.classList.toggle('active', index === at)
  }
}
