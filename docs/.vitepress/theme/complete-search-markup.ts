/** In the theme's search, a button contains everything, and options contain links: makes it a dialog with links as options. */
export function completeSearchMarkup(): void {
  new MutationObserver(complete).observe(document.body, {
    childList: true,
    subtree: true,
    attributeFilter: ['id', 'aria-label', 'aria-selected'],
  })
}

function complete(): void {
  const box = document.querySelector('.VPLocalSearchBox')
  if (!box) return
  if (box.role !== 'dialog') {
    box.role = 'dialog'
    box.ariaLabel = 'Search'
    for (const name of ['aria-expanded', 'aria-haspopup', 'aria-labelledby']) box.removeAttribute(name)
  }
  // Only elements with a role can have a label.
  for (const key of box.querySelectorAll('kbd')) key.role = 'img'
  for (const link of box.querySelectorAll('a.result')) {
    const item = link.parentElement!
    link.role = 'option'
    link.removeAttribute('aria-label')
    item.role = 'none'
    for (const name of ['id', 'aria-selected']) {
      const value = item.getAttribute(name)
      if (value === null) continue
      link.setAttribute(name, value)
      item.removeAttribute(name)
    }
  }
}
