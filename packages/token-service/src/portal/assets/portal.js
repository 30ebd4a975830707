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

// Many choices: those that match the search, and the chosen ones, each with a button that removes it.
for (const part of document.querySelectorAll('[data-pick]')) {
  const search = part.querySelector('[type="search"]')
  const picked = part.querySelector('.picked')
  const groups = [...part.querySelectorAll('details')]
  const boxes = [...part.querySelectorAll('[type="checkbox"]')]
  const counts = new Map(groups.map((group) => [group, group.querySelector('b')]))
  const find = () => {
    const words = search.value
      .toLowerCase()
      .split(/[\s:./]+/)
      .filter(Boolean)
    for (const group of groups) {
      const labels = [...group.querySelectorAll('label')]
      for (const label of labels) {
        const text = `${group.firstElementChild.firstChild.data} ${label.textContent}`.toLowerCase()
        label.hidden = !words.every((word) => text.includes(word))
      }
      group.hidden = labels.every(({ hidden }) => hidden)
      group.open = words.length > 0
    }
    part.querySelector('.none').hidden = groups.some(({ hidden }) => !hidden)
  }
  const show = () => {
    const chosen = boxes.filter(({ checked }) => checked)
    picked.replaceChildren(
      ...chosen.map((box) => {
        const button = Object.assign(document.createElement('button'), {
          type: 'button',
          className: 'chip',
          textContent: `${box.value} ✕`,
          ariaLabel: `Remove ${box.value}`,
        })
        button.addEventListener('click', () => {
          box.checked = false
          show()
          search.focus()
        })
        return button
      }),
    )
    for (const [group, count] of counts) {
      const all = group.querySelectorAll('[type="checkbox"]').length
      const some = group.querySelectorAll(':checked').length
      count.textContent = some === 0 ? all : `${some} of ${all}`
    }
  }
  search.addEventListener('input', find)
  // It searches, and sends nothing.
  search.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') event.preventDefault()
  })
  // Not for the search, which changes when somebody presses a button beside it.
  for (const box of boxes) box.addEventListener('change', show)
  show()
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

// A form that was sent after the session had ended is shown again after the log-in, filled in and not sent: for ten minutes, in this
// tab, and for the same person. Passwords, keys and hidden fields are not kept.
const keptForm = 'tokenwell-portal-form'
const keptMs = 600_000
const person = document.querySelector('.account strong')?.textContent
const kept = JSON.parse(sessionStorage.getItem(keptForm) ?? 'null')
const isFresh = kept && Date.now() - kept.atMs < keptMs
const logIn = document.querySelector('main form input[name="next"]')?.form

if (!isFresh || (person && !kept.isEnded)) sessionStorage.removeItem(keptForm)
else if (logIn) {
  sessionStorage.setItem(keptForm, JSON.stringify({ ...kept, isEnded: true }))
  logIn.elements.next.value = kept.url
  for (const link of document.querySelectorAll('main a[href*="next="]')) {
    const url = new URL(link.href)
    url.searchParams.set('next', kept.url)
    link.href = url
  }
} else if (person) {
  sessionStorage.removeItem(keptForm)
  const form = [...document.forms].find((each) => each.method === 'post' && each.action === kept.action)
  if (form && person === kept.person && location.pathname + location.search === kept.url)
    fillIn(form, kept.fields)
}

addEventListener('submit', ({ target: form, defaultPrevented }) => {
  const isKept = form.method === 'post' && person && !defaultPrevented && form.closest('main')
  if (!isKept || form.querySelector('[type="password"]')) return
  const hidden = new Set([...form.querySelectorAll('[type="hidden"], textarea.code')].map(({ name }) => name))
  const fields = [...new FormData(form)].filter(
    ([name, value]) => !hidden.has(name) && typeof value === 'string',
  )
  const url = location.pathname + location.search
  const { action } = form
  sessionStorage.setItem(keptForm, JSON.stringify({ atMs: Date.now(), person, url, action, fields }))
})

function fillIn(form, fields) {
  for (const field of form.elements) {
    if (field.type === 'hidden' || !field.name) continue
    const values = fields.filter(([name]) => name === field.name).map(([, value]) => value)
    if (field.type === 'checkbox' || field.type === 'radio') field.checked = values.includes(field.value)
    else if (values.length > 0) field.value = values[0]
    field.dispatchEvent(new Event('change', { bubbles: true }))
  }
  const notice = Object.assign(document.createElement('p'), {
    className: 'notice',
    textContent: 'Your session had ended. Check the form, and send it again.',
    tabIndex: -1,
  })
  form.before(notice)
  notice.focus()
}
