import type { ComponentChildren } from 'preact'

/** One field of the form of an act. */
export type Field = {
  readonly name: string
  readonly label: string
  readonly isFree?: boolean
  /** The type of the input; a `checkbox` stands before its label. */
  readonly type?: string
  /** Its first text. */
  readonly first?: string
  /** The values to choose from, each with its text. */
  readonly choices?: readonly (readonly [value: string, text: string])[]
  readonly isLong?: boolean
  readonly hint?: ComponentChildren
  /** Further attributes of its input. */
  readonly more?: Readonly<Record<string, string | number | boolean>>
}

const idOf = ({ name }: Field): string => `field-${name}`

const Input = ({ type = 'text', first = '', ...field }: Field) => {
  const { name, isFree = false, choices, isLong = false, hint, more } = field
  const id = idOf(field)
  const said = { id, name, 'aria-describedby': hint === undefined ? undefined : `${id}-hint` }
  if (choices !== undefined) {
    return (
      <select {...said}>
        {choices.map(([value, text]) => (
          <option key={value} value={value} selected={value === first}>
            {text}
          </option>
        ))}
      </select>
    )
  }
  const given = { ...said, required: !isFree, defaultValue: first, ...more }
  return isLong ? (
    <textarea rows={3} {...given} />
  ) : (
    <input type={type} autocomplete="off" {...given} />
  )
}

const CheckBox = ({ name, label, first }: Field) => (
  <label class="check">
    <input name={name} type="checkbox" defaultChecked={first === 'true'} />
    {label}
  </label>
)

export const Fields = ({ fields }: { readonly fields: readonly Field[] }) => (
  <>
    {fields.map((field) =>
      field.type === 'checkbox' ? (
        <CheckBox key={field.name} {...field} />
      ) : (
        <div key={field.name} class="field">
          <label for={idOf(field)}>{field.label}</label>
          <Input {...field} />
          {field.hint !== undefined && <small id={`${idOf(field)}-hint`}>{field.hint}</small>}
        </div>
      ),
    )}
  </>
)

/** Choices that show the codes as they are. */
export const asTheyAre = (codes: readonly string[]): NonNullable<Field['choices']> =>
  codes.map((code) => [code, code])

export const textIn = (form: FormData, name: string): string => String(form.get(name) ?? '').trim()

/** The text of each of these fields, by its name. */
export const textsIn = <Name extends string>(
  form: FormData,
  ...names: readonly Name[]
): Readonly<Record<Name, string>> =>
  Object.fromEntries(names.map((name) => [name, textIn(form, name)])) as Record<Name, string>

/** The same without empty texts. */
export const givenIn = (form: FormData, ...names: readonly string[]) =>
  Object.fromEntries(Object.entries(textsIn(form, ...names)).filter(([, text]) => text !== ''))

/** The value by its name; nothing if it is empty. */
export const given = (name: string, value: string): Readonly<Record<string, string>> =>
  value === '' ? {} : { [name]: value }
