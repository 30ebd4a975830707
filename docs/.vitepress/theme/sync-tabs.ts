const key = 'tokenwell-tabs'

/** A chosen tab, such as a package manager, is chosen in every group of tabs, on the next pages too. */
export function followChoices(): void {
  if (typeof document === 'undefined') return
  document.addEventListener('change', ({ target }) => {
    if (!(target instanceof HTMLInputElement) || !target.closest('.vp-code-group')) return
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
}

function chosenTabs(): string[] {
  return JSON.parse(localStorage.getItem(key) ?? '[]') as string[]
}

function nameOf(input: HTMLInputElement): string {
  return input.labels?.[0]?.textContent ?? ''
}

function showTab(name: string): void {
  for (const group of document.querySelectorAll('.vp-code-group')) {
    const inputs = [...group.querySelectorAll('input')]
    const at = inputs.findIndex((input) => nameOf(input) === name)
    const blocks = group.querySelector('.blocks')?.children
    if (at < 0 || blocks?.[at] === undefined) continue
    inputs[at]!.checked = true
    for (const [index, block] of [...blocks].entries()) block.classList.toggle('active', index === at)
  }
}
