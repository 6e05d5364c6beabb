import { useState } from 'preact/hooks'
import { type ApiDocument, resolved, type Schema } from './samples.ts'
import { toolWords as w } from './tools-words.ts'
import { fill } from './words.ts'

/** A value as the form holds it; undefined: nothing is given. */
export type Given =
  | string
  | number
  | boolean
  | undefined
  | readonly Given[]
  | { readonly [name: string]: Given }

type Members = Readonly<Record<string, Given>>

type Part = {
  readonly document: ApiDocument
  readonly schema: Schema
  readonly value: Given
  readonly onChange: (value: Given) => void
}

type Named = Part & {
  readonly name: string
  /** Names the field and all groups around it. */
  readonly id: string
  readonly isNeeded: boolean
}

const isMembers = (value: Given): value is Members =>
  typeof value === 'object' && !Array.isArray(value)

const isList = (value: Given): value is readonly Given[] => Array.isArray(value)

/** The value without empty parts; undefined if nothing is left. */
export const givenOf = (value: Given): Given => {
  if (value === '') return undefined
  if (isList(value)) {
    const items = value.map(givenOf).filter((item) => item !== undefined)
    return items.length === 0 ? undefined : items
  }
  if (!isMembers(value)) return value
  const members = Object.entries(value)
    .map(([name, of]) => [name, givenOf(of)] as const)
    .filter(([, of]) => of !== undefined)
  return members.length === 0 ? undefined : Object.fromEntries(members)
}

/** A form for the members of an object, made from its schema; of several schemas a person chooses one. */
export const SchemaForm = ({ id, ...part }: Part & { readonly id: string }) => {
  const schema = resolved(part.document, part.schema)
  if (schema.anyOf === undefined) return <MembersForm {...part} schema={schema} id={id} />
  return <Variants {...part} variants={schema.anyOf} id={id} />
}

const namesOf = (document: ApiDocument, schema: Schema): readonly string[] =>
  Object.keys(resolved(document, schema).properties ?? {})

/** Some messages take one thing alone or several in a list, but never both. */
const Variants = ({
  variants,
  ...part
}: Part & { readonly variants: readonly Schema[]; readonly id: string }) => {
  const { document, value } = part
  const given = isMembers(value) ? Object.keys(value) : []
  const [chosen, setChosen] = useState(() => {
    const fits = (schema: Schema) => {
      const names = namesOf(document, schema)
      return given.every((name) => names.includes(name))
    }
    return Math.max(0, variants.findIndex(fits))
  })
  const schema = variants[chosen]
  return (
    <>
      <label class="field">
        {w.form}
        <select
          value={chosen}
          onChange={(event) => {
            setChosen(Number(event.currentTarget.value))
            part.onChange(undefined)
          }}
        >
          {variants.map((_, at) => (
            <option key={String(at)} value={at}>
              {at === 0 ? w.one : w.several}
            </option>
          ))}
        </select>
      </label>
      {schema !== undefined && <MembersForm {...part} schema={resolved(document, schema)} />}
    </>
  )
}

const MembersForm = ({ document, schema, value, onChange, id }: Part & { readonly id: string }) => {
  const members = isMembers(value) ? value : {}
  return (
    <>
      {Object.entries(schema.properties ?? {}).map(([name, of]) => (
        <Member
          key={name}
          {...{ document, name, id: `${id}-${name}` }}
          schema={resolved(document, of)}
          isNeeded={(schema.required ?? []).includes(name)}
          value={members[name]}
          onChange={(one) => onChange({ ...members, [name]: one })}
        />
      ))}
    </>
  )
}

const Member = (named: Named) => {
  switch (named.schema.type) {
    case 'object':
      return named.schema.properties === undefined ? <Free {...named} /> : <Group {...named} />
    case 'array':
      return <List {...named} />
    default:
      return <Leaf {...named} />
  }
}

/** Closed while nothing in it is required or given. */
const Group = (named: Named) => (
  <details open={named.isNeeded || named.value !== undefined} class="group">
    <summary>
      <code>{named.name}</code>
    </summary>
    <div>
      {named.schema.description !== undefined && <small>{named.schema.description}</small>}
      <MembersForm {...named} />
    </div>
  </details>
)

const List = (named: Named) => {
  const { document, name, id, schema, value, onChange, isNeeded } = named
  const items = isList(value) ? value : isNeeded ? [undefined] : []
  const item = resolved(document, schema.items ?? {})
  const put = (at: number, one: Given) =>
    onChange(items.map((former, place) => (place === at ? one : former)))
  return (
    <fieldset class="group">
      <legend>
        <code>{name}</code>
      </legend>
      {schema.description !== undefined && <small>{schema.description}</small>}
      {items.map((one, at) => (
        <div class="item" key={String(at)}>
          <Member
            {...{ document, schema: item, value: one, isNeeded: true }}
            {...{ name: `${name} ${at + 1}`, id: `${id}-${at}` }}
            onChange={(changed) => put(at, changed)}
          />
          {(at > 0 || !isNeeded) && (
            <button
              type="button"
              onClick={() => onChange(items.filter((_, place) => place !== at))}
            >
              {fill(w.remove, { name: `${name} ${at + 1}` })}
            </button>
          )}
        </div>
      ))}
      <button type="button" onClick={() => onChange([...items, undefined])}>
        {fill(w.add, { name })}
      </button>
    </fieldset>
  )
}

/** An object whose schema names no members, typed as JSON. */
const Free = ({ name, id, schema, onChange, isNeeded }: Named) => (
  <div class="field">
    <label for={id} class="mono">
      {name}
    </label>
    <textarea
      {...{ id, rows: 3, required: isNeeded, spellcheck: false }}
      placeholder="{}"
      onInput={({ currentTarget: { value } }) => onChange(jsonOf(value))}
    />
    {schema.description !== undefined && <small>{schema.description}</small>}
  </div>
)

/** Anything but JSON stays text, and the API refuses it by its name. */
const jsonOf = (text: string): Given => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const Leaf = ({ name, id, schema, value, onChange, isNeeded }: Named) => {
  const isFlag = schema.type === 'boolean'
  const { description, enum: values = isFlag ? [true, false] : undefined } = schema
  const hint = description === undefined ? undefined : `${id}-hint`
  const isWhole = schema.type === 'integer'
  return (
    <div class="field">
      <label for={id} class="mono">
        {name}
      </label>
      {values === undefined ? (
        <input
          {...{ id, required: isNeeded, spellcheck: false, autocomplete: 'off' }}
          aria-describedby={hint}
          inputMode={isWhole ? 'numeric' : 'text'}
          value={typeof value === 'object' ? JSON.stringify(value) : String(value ?? '')}
          onInput={({ currentTarget: { value: text } }) => onChange(isWhole ? wholeOf(text) : text)}
        />
      ) : (
        <select
          {...{ id, required: isNeeded }}
          value={String(value ?? '')}
          onChange={({ currentTarget: { value: text } }) =>
            onChange(isFlag && text !== '' ? text === 'true' : text)
          }
        >
          <option value="" />
          {values.map((one) => (
            <option key={String(one)} value={String(one)}>
              {String(one)}
            </option>
          ))}
        </select>
      )}
      {description !== undefined && <small id={hint}>{description}</small>}
    </div>
  )
}

/** A whole number; anything else stays text, and the API refuses it by its name. */
const wholeOf = (text: string): Given => (/^\d{1,15}$/.test(text) ? Number(text) : text)
