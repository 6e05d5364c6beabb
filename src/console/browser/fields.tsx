/** One field of the form of an act. */
export type Field = {
  readonly name: string
  readonly label: string
  readonly isFree?: boolean
  readonly type?: 'text' | 'number' | 'date' | 'email' | 'tel'
  /** What stands in it at first. */
  readonly first?: string
  /** Those that may be chosen, each with its text. */
  readonly choices?: readonly (readonly [value: string, text: string])[]
  readonly isLong?: boolean
  readonly hint?: string
}

const idOf = ({ name }: Field): string => `field-${name}`

const Input = (field: Field) => {
  const { name, isFree = false, type = 'text', first = '', choices, isLong = false, hint } = field
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
  const more = { required: !isFree, defaultValue: first }
  return isLong ? (
    <textarea {...{ ...said, ...more, rows: 3 }} />
  ) : (
    <input {...{ ...said, ...more, type }} autocomplete="off" />
  )
}

export const Fields = ({ fields }: { readonly fields: readonly Field[] }) => (
  <>
    {fields.map((field) => (
      <div key={field.name} class="field">
        <label for={idOf(field)}>{field.label}</label>
        <Input {...field} />
        {field.hint !== undefined && <small id={`${idOf(field)}-hint`}>{field.hint}</small>}
      </div>
    ))}
  </>
)

export const textIn = (form: FormData, name: string): string => String(form.get(name) ?? '').trim()

/** A member where something is given. */
export const given = (name: string, value: string): Readonly<Record<string, string>> =>
  value === '' ? {} : { [name]: value }
