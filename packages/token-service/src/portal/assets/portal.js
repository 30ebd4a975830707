// Conveniences of every page: everything but copying works without them.

const status = document.getElementById('status')

if (navigator.clipboard) {
  for (const button of document.querySelectorAll('button[data-copy]')) {
    button.dataset.ready = ''
    button.addEventListener('click', () => void copy(button))
  }
}

async function copy(button) {
  const source = document.getElementById(button.dataset.copy)
  try {
    await navigator.clipboard.writeText(source.textContent.trim())
    showLabel(button, 'Copied')
  } catch {
    getSelection().selectAllChildren(source)
    showLabel(button, 'Copy failed')
  }
}

function showLabel(button, text) {
  const label = button.firstChild
  button.dataset.label ??= label.data
  label.data = text
  status.textContent = text
  setTimeout(() => {
    label.data = button.dataset.label
    status.textContent = ''
  }, 2000)
}

// Times are those of the reader; the title of each says it in UTC.
const formats = {
  minute: new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' }),
  day: new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' }),
  date: new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' }),
  hour: new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' }),
  moment: new Intl.DateTimeFormat('en-GB', {
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
  }),
}
for (const time of document.querySelectorAll('time[data-local]')) {
  time.textContent = formats[time.dataset.local].format(new Date(time.dateTime))
}

// Days are those of the reader, too.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
for (const field of document.querySelectorAll('input[name="zone"]')) field.value = zone
for (const name of document.querySelectorAll('[data-zone]')) name.textContent = zone

// All rows of a page at once, and how many are selected.
const all = document.querySelector('[data-select-all]')
if (all) {
  const rows = [...document.querySelectorAll('[name="selected"]')]
  const texts = document.querySelectorAll('[data-selected]')
  const count = () => {
    const selected = rows.filter((row) => row.checked).length
    all.checked = selected === rows.length
    all.indeterminate = selected > 0 && !all.checked
    for (const text of texts) text.textContent = `${text.dataset.selected} ${selected}`
  }
  all.dataset.ready = ''
  all.addEventListener('change', () => {
    for (const row of rows) row.checked = all.checked
    count()
  })
  for (const row of rows) row.addEventListener('change', count)
  // With Shift, all from the row that was clicked last to this one.
  let last
  for (const row of rows)
    row.addEventListener('click', ({ shiftKey }) => {
      if (shiftKey && last) {
        const [from, to] = [rows.indexOf(last), rows.indexOf(row)].toSorted((a, b) => a - b)
        for (const each of rows.slice(from, to + 1)) each.checked = row.checked
      }
      last = row
    })
  // The browser keeps what was selected when one comes back.
  if (rows.some((row) => row.checked)) count()
}

// While somebody types a name, those that contain it are suggested.
for (const input of document.querySelectorAll('input[data-suggestions]')) {
  let latest
  input.addEventListener('input', () => {
    latest?.abort()
    latest = new AbortController()
    void suggest(input, latest.signal)
  })
}

async function suggest(input, signal) {
  try {
    await new Promise((resolve) => setTimeout(resolve, 150))
    if (signal.aborted) return
    const url = `${input.dataset.suggestions}?${new URLSearchParams({ q: input.value })}`
    const response = await fetch(url, { signal, redirect: 'error' })
    const options = (await response.json()).map(({ text, hint = '' }) =>
      Object.assign(document.createElement('option'), { value: text, textContent: hint }),
    )
    if (!signal.aborted) input.list.replaceChildren(...options)
  } catch {
    // The name can still be typed.
  }
}

// Browsers without invoker commands.
if (!('command' in HTMLButtonElement.prototype)) {
  for (const button of document.querySelectorAll('button[commandfor]')) {
    const dialog = document.getElementById(button.getAttribute('commandfor'))
    const isOpener = button.getAttribute('command') === 'show-modal'
    button.addEventListener('click', () => (isOpener ? dialog.showModal() : dialog.close()))
  }
}

// `/` leads to the search of the page, Ctrl K or ⌘K to that of everything.
const everything = document.querySelector('.everything input')
if (everything && /Mac|iP/.test(navigator.platform)) everything.nextElementSibling.textContent = '⌘K'
addEventListener('keydown', (event) => {
  const { key, target, metaKey, ctrlKey, altKey } = event
  const isTyping = target.closest('input, textarea, select, [contenteditable]')
  const isEverything = key === 'k' && (metaKey || ctrlKey)
  if (!isEverything && (key !== '/' || isTyping || metaKey || ctrlKey || altKey)) return
  const search = (!isEverything && document.querySelector('main input[type="search"]')) || everything
  if (!search) return
  event.preventDefault()
  // On a narrow screen, the menu is closed.
  if (!search.checkVisibility()) search.closest('[popover]')?.showPopover()
  search.focus()
  search.select()
})
