/* The page at /docs: shows /openapi.json, and tries its operations out. It loads nothing from elsewhere. */
import { asking, bodiesOf, exampleOf, resolved, triedWith, wordsOf } from './schema.client.js'

const depthMax = 6
const themeKey = 'theme'
const apiKey = 'key'

/** An element with its attributes and what is in it; texts are never markup. */
const make = (name, attributes = {}, ...within) => {
  const element = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value)
    else if (value !== undefined) element.setAttribute(key, value)
  }
  element.append(...within.filter((one) => one !== undefined))
  return element
}

const inline = (text) =>
  text.split(/(`[^`]+`)/).map((part) => {
    if (part.startsWith('`')) return make('code', {}, part.slice(1, -1))
    return part
  })

const tableOf = (lines) => {
  const rows = lines.filter((line) => !/^\|[\s:|-]+\|$/.test(line))
  const cells = (line) => line.slice(1, -1).split(/(?<!\\)\|/)
  return make(
    'table',
    {},
    ...rows.map((line, at) =>
      make(
        'tr',
        {},
        ...cells(line).map((cell) => make(at === 0 ? 'th' : 'td', {}, ...inline(cell.trim()))),
      ),
    ),
  )
}

/** Paragraphs, headings, tables and code of Markdown: what our descriptions use. */
const markdown = (text) =>
  text.split(/\n{2,}/).map((block) => {
    const lines = block.split('\n')
    const heading = /^(#+) (.*)$/.exec(block)
    if (heading !== null) return make(heading[1].length > 3 ? 'h5' : 'h4', {}, heading[2])
    return lines[0].startsWith('|') ? tableOf(lines) : make('p', {}, ...inline(block))
  })

const membersOf = (api, given, depth = 0) => {
  const schema = resolved(api, given)
  const choices = schema.anyOf ?? schema.oneOf
  if (depth > depthMax) return undefined
  if (choices !== undefined) {
    const shown = choices.filter((one) => one.type !== 'null')
    return make('div', {}, ...shown.map((one) => nodeOf(api, nameOf(one), one, false, depth)))
  }
  if (schema.items !== undefined) return membersOf(api, schema.items, depth + 1)
  const needed = new Set(schema.required ?? [])
  const entries = Object.entries(schema.properties ?? {})
  if (entries.length === 0) return undefined
  const items = entries.map(([name, value]) =>
    make('li', {}, nodeOf(api, name, value, needed.has(name), depth + 1)),
  )
  return make('ul', { class: 'members' }, ...items)
}

const nameOf = (schema) => schema.$ref?.split('/').at(-1) ?? schema.title ?? ''

/** One member: opened, it shows what is within. */
const nodeOf = (api, name, schema, isNeeded, depth) => {
  const { description } = { ...resolved(api, schema), ...schema }
  const line = [
    make('code', {}, name),
    isNeeded ? make('b', {}, ' * ') : ' ',
    make('span', { class: 'faint' }, wordsOf(api, schema)),
    ...(description === undefined ? [] : [' ', ...inline(description)]),
  ]
  const target = resolved(api, schema)
  const parts = target.properties ?? target.anyOf ?? target.oneOf ?? target.items
  if (parts === undefined) return make('div', {}, ...line)
  const details = make('details', {}, make('summary', {}, ...line))
  details.addEventListener('toggle', () => details.append(membersOf(api, schema, depth) ?? ''), {
    once: true,
  })
  return details
}

const parametersOf = (api, parameters) =>
  parameters.map(({ name, in: place, required, schema, description }) => {
    const needed = required === true
    const value = needed ? String(exampleOf(api, schema)) : ''
    const input = make('input', { name, 'data-in': place, placeholder: name, value })
    const words = `${place}${needed ? ', needed' : ''}, ${wordsOf(api, schema)}`
    const told = description ?? schema.description ?? ''
    const cells = [make('code', {}, name), input, make('span', { class: 'faint' }, words), told]
    return make('tr', {}, ...cells.map((cell) => make('td', {}, cell)))
  })

/** Answers of what was tried in this tab, by operation. */
const answers = new Map()

const authorization = () => {
  const key = document.getElementById('key').value
  return key === '' ? {} : { Authorization: `Bearer ${key}` }
}

const read = async (path) => {
  const response = await fetch(path, { headers: authorization() })
  return response.ok ? response.json() : undefined
}

/** Writes into a form what other operations answer; what was typed meanwhile stays. */
const refill = async (api, operation, form, bodies) => {
  const select = form.querySelector('select')
  const area = form.querySelector('textarea')
  const chosen = bodies[select?.selectedIndex ?? 0]
  const before = area?.value
  const { parameters, body } = await triedWith(operation, chosen?.value, asking(api, answers, read))
  for (const input of form.querySelectorAll('input[data-in]')) {
    const value = parameters[input.name]
    if (value !== undefined && input.value === input.defaultValue) {
      input.defaultValue = String(value)
      input.value = input.defaultValue
    }
  }
  if (area !== null && area.value === before) area.value = written(body)
}

const written = (value) => (typeof value === 'string' ? value : JSON.stringify(value, null, 2))

const send = async (method, template, form, type, name) => {
  const headers = authorization()
  const query = new URLSearchParams()
  let path = template
  for (const input of form.querySelectorAll('input[data-in]')) {
    if (input.value === '') continue
    if (input.dataset.in === 'path') {
      path = path.replace(`{${input.name}}`, encodeURIComponent(input.value))
    } else if (input.dataset.in === 'query') query.set(input.name, input.value)
    else headers[input.name] = input.value
  }
  const body = form.querySelector('textarea')?.value
  if (body !== undefined && body !== '') headers['Content-Type'] = type
  const url = query.size > 0 ? `${path}?${query}` : path
  const started = performance.now()
  const response = await fetch(url, { method, headers, body: body || undefined })
  const text = await response.text()
  const tookMs = Math.round(performance.now() - started)
  const isJson = /[/+]json\b/.test(response.headers.get('content-type') ?? '')
  if (isJson && response.ok) answers.set(name, JSON.parse(text))
  const shown = isJson ? pretty(text) : text
  return `${response.status} ${response.statusText}  ${tookMs} ms\n\n${shown}`
}

const pretty = (text) => {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2)
  } catch {
    return text
  }
}

const formOf = (api, method, path, operation) => {
  const bodies = bodiesOf(api, operation)
  const [first] = bodies
  const area = first && make('textarea', { spellcheck: 'false', 'aria-label': 'Body' })
  if (area !== undefined) area.value = written(first.value)
  const choose = (event) => {
    area.value = written(bodies[event.target.selectedIndex].value)
    refill(api, operation, form, bodies).catch(() => {})
  }
  const options = bodies.map(({ name }) => make('option', {}, name))
  const select = options.length > 1 ? make('select', { onchange: choose }, ...options) : undefined
  const answer = make('pre', { hidden: '' })
  const form = make(
    'form',
    {
      onsubmit: async (event) => {
        event.preventDefault()
        answer.hidden = false
        answer.textContent = '…'
        answer.textContent = await send(
          ...[method, path, form, first?.type, operation.operationId],
        ).catch(String)
      },
    },
    make('table', {}, ...parametersOf(api, operation.parameters ?? [])),
    select,
    area,
    make('p', {}, make('button', { type: 'submit' }, 'Try it out')),
    answer,
  )
  // Without a key, or with nothing to be found, the example stays as the document has it.
  form.refill = () => refill(api, operation, form, bodies).catch(() => {})
  form.refill()
  return form
}

const answersOf = (api, responses = {}) =>
  Object.entries(responses).map(([status, { description, content = {} }]) => {
    const [media] = Object.values(content)
    return make(
      'li',
      {},
      make('b', {}, status),
      ' ',
      ...inline(description ?? ''),
      media?.schema === undefined
        ? undefined
        : nodeOf(api, nameOf(media.schema), media.schema, false, 0),
    )
  })

const fill = (api, method, path, operation, isTried) => {
  const body = Object.values(operation.requestBody?.content ?? {})[0]
  return make(
    'div',
    { class: 'within' },
    ...markdown(operation.description ?? ''),
    ...(isTried ? [formOf(api, method, path, operation)] : []),
    ...(body === undefined
      ? []
      : [
          make('h4', {}, 'Body'),
          membersOf(api, body.schema) ?? make('p', {}, wordsOf(api, body.schema)),
        ]),
    make('h4', {}, 'Answers'),
    make('ul', { class: 'members' }, ...answersOf(api, operation.responses)),
  )
}

const cardOf = (api, { method, path, operation, isTried }) => {
  const id = operation.operationId
  const details = make(
    'details',
    { class: 'operation', id },
    make(
      'summary',
      {},
      make('span', { class: 'method' }, method),
      make('code', {}, path),
      ` ${operation.summary ?? ''}`,
    ),
  )
  const open = () => details.append(fill(api, method, path, operation, isTried))
  details.addEventListener('toggle', open, { once: true })
  // Opened again: what was tried meanwhile may tell more.
  details.addEventListener(
    'toggle',
    () => details.open && details.querySelector('form')?.refill?.(),
  )
  const link = make('a', { href: `#${id}` }, operation.summary ?? id)
  const words = `${id} ${method} ${path} ${operation.summary} ${operation.description}`
  return { details, link, words: words.toLowerCase() }
}

const operationsOf = (api) => {
  const flat = (paths, isTried) =>
    Object.entries(paths ?? {}).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        ...{ method: method.toUpperCase(), path, operation, isTried },
      })),
    )
  return [...flat(api.paths, true), ...flat(api.webhooks, false)]
}

const show = (api) => {
  const main = document.getElementById('operations')
  const contents = document.getElementById('contents')
  main.replaceChildren(make('p', {}, api.info.description))
  const all = operationsOf(api)
  const groups = api.tags.map(({ name, description }) => {
    const cards = all
      .filter(({ operation }) => operation.tags.includes(name))
      .map((one) => cardOf(api, one))
    const section = make('section', {}, make('h2', {}, name), make('p', {}, description))
    const list = make('div', {}, make('h2', {}, name))
    section.append(...cards.map(({ details }) => details))
    list.append(...cards.map(({ link }) => link))
    main.append(section)
    contents.append(list)
    return { section, list, cards }
  })
  document.getElementById('search').addEventListener('input', ({ target }) => {
    const wanted = target.value.toLowerCase().split(/\s+/)
    for (const { section, list, cards } of groups) {
      for (const { details, link, words } of cards) {
        details.hidden = !wanted.every((word) => words.includes(word))
        link.hidden = details.hidden
      }
      section.hidden = cards.every(({ details }) => details.hidden)
      list.hidden = section.hidden
    }
  })
}

/** The operation that the address names is opened. */
const follow = () => {
  const found = document.getElementById(decodeURIComponent(location.hash.slice(1)))
  if (!(found instanceof HTMLDetailsElement)) return
  found.open = true
  found.scrollIntoView()
}

const remember = () => {
  const root = document.documentElement
  const stored = localStorage.getItem(themeKey)
  if (stored !== null) root.dataset.theme = stored
  document.getElementById('theme').addEventListener('click', () => {
    const isDark = getComputedStyle(root).colorScheme === 'dark'
    const wasDark =
      root.dataset.theme === undefined ? matchMedia('(prefers-color-scheme: dark)').matches : isDark
    root.dataset.theme = wasDark ? 'light' : 'dark'
    localStorage.setItem(themeKey, root.dataset.theme)
  })
  const key = document.getElementById('key')
  key.value = sessionStorage.getItem(apiKey) ?? ''
  key.addEventListener('input', () => sessionStorage.setItem(apiKey, key.value))
  addEventListener('keydown', (event) => {
    if (event.key !== '/' || /^(INPUT|TEXTAREA)$/.test(event.target.tagName)) return
    event.preventDefault()
    document.getElementById('search').focus()
  })
}

remember()
show(await (await fetch('/openapi.json')).json())
follow()
addEventListener('hashchange', follow)
