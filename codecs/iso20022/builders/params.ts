import type { Form } from './forms.ts'
import type { Content } from './values.ts'

/** A parameter that breaks a rule. Holds no value. */
export type BuildProblem = {
  /** JSON Pointer into the parameters. */
  readonly pointer: string
  readonly rule: string
  readonly message: string
  readonly expected?: string
}

/** Problems reported for one message. */
export const buildProblemsMax = 100

/** What is found in the parameters of one message. */
export type Findings = {
  readonly problems: BuildProblem[]
  /**
   * Whether the names that are read are kept. They are needed only where some object has more fields than were
   * read of it: then the parameters are read once more.
   */
  readonly namesKept: boolean
  unknownFields: boolean
}

export const newFindings = (namesKept: boolean): Findings => ({
  problems: [],
  namesKept,
  unknownFields: false,
})

type Fields = Readonly<Record<string, unknown>>

const noFields: Fields = {}

/**
 * Reads one object of the parameters by rules; the problems of all objects come together in one list. A field
 * that is missing or wrong reads as empty: the caller builds unconditionally, and discards on any problem. Each
 * field is read once.
 */
export class Params {
  readonly findings: Findings
  readonly fields: Fields
  readonly parent: Params | undefined
  readonly name: string
  /** Within the array `name`; -1 where that is no array. */
  readonly index: number
  /** How many of the fields were read. */
  private readCount = 0
  private readonly readNames: Set<string> | undefined

  constructor(value: unknown, findings: Findings, parent?: Params, name = '', index = -1) {
    this.findings = findings
    this.parent = parent
    this.name = name
    this.index = index
    this.readNames = findings.namesKept ? new Set() : undefined
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    this.fields = isObject ? (value as Fields) : noFields
    if (!isObject) this.refuse('', 'type', 'must be an object')
  }

  refuse(name: string, rule: string, message: string, expected?: string): void {
    const { problems } = this.findings
    if (problems.length === buildProblemsMax) return
    const pointer = name === '' ? this.pointer() : `${this.pointer()}/${name}`
    problems.push({ pointer, rule, message, ...(expected === undefined ? {} : { expected }) })
  }

  /** Empty where it is missing or wrong. */
  text<Read extends Content>(name: string, form: Form<Read>): Read | '' {
    const value = this.read(name)
    if (typeof value === 'string') {
      const text = form.read(value)
      if (text !== undefined) return text
    }
    if (value === undefined || value === null) this.refuse(name, 'required', 'is missing')
    else this.refuseForm(name, value, form)
    return ''
  }

  optional<Read extends Content>(name: string, form: Form<Read>): Read | undefined {
    const value = this.read(name)
    if (value === undefined || value === null) return undefined
    if (typeof value === 'string') {
      const text = form.read(value)
      if (text !== undefined) return text
    }
    this.refuseForm(name, value, form)
    return undefined
  }

  /** A whole number of cents above zero; 0 where it is missing or wrong. */
  cents(name: string): number {
    const value = this.read(name)
    if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value
    if (value === undefined) this.refuse(name, 'required', 'is missing')
    else if (typeof value !== 'number' || !Number.isSafeInteger(value)) {
      this.refuse(name, 'type', 'must be a whole number of cents')
    } else this.refuse(name, 'minimum', 'must be above zero', '1 cent or more')
    return 0
  }

  /** As {@link cents}, but may be zero. */
  centsOrNone(name: string): number {
    return this.fields[name] === 0 ? Number(this.read(name)) : this.cents(name)
  }

  /** As {@link centsOrNone}, but may be absent. */
  optionalCents(name: string): number | undefined {
    if (this.has(name)) return this.centsOrNone(name)
    this.read(name)
    return undefined
  }

  has(name: string): boolean {
    return this.fields[name] !== undefined && this.fields[name] !== null
  }

  object(name: string): Params {
    const value = this.read(name)
    if (value !== undefined) return new Params(value, this.findings, this, name)
    this.refuse(name, 'required', 'is missing')
    return new Params(noFields, newFindings(false), this, name)
  }

  optionalObject(name: string): Params | undefined {
    const value = this.read(name)
    return value === undefined || value === null
      ? undefined
      : new Params(value, this.findings, this, name)
  }

  /** Between one and `max` objects. */
  list(name: string, max: number): readonly Params[] {
    const value = this.read(name)
    if (value !== undefined) return this.items(name, value, max)
    this.refuse(name, 'required', 'must be an array of objects')
    return []
  }

  /** As {@link list}, but may be absent. */
  optionalList(name: string, max: number): readonly Params[] | undefined {
    const value = this.read(name)
    return value === undefined || value === null ? undefined : this.items(name, value, max)
  }

  /** One text, or an array of one to `max`; none where it is absent. */
  texts(name: string, form: Form, max: number): readonly Content[] {
    const value = this.fields[name]
    if (!Array.isArray(value)) {
      const text = this.optional(name, form)
      return text === undefined ? [] : [text]
    }
    this.read(name)
    if (!this.counted(name, value.length, max)) return []
    return value.map((one, i) => {
      const text = typeof one === 'string' ? form.read(one) : undefined
      if (text === undefined) this.refuseForm(`${name}/${i}`, one, form)
      return text ?? ''
    })
  }

  /** Refuses the fields that nothing has read. */
  done(): void {
    const names = Object.keys(this.fields)
    if (names.length === this.readCount) return
    this.findings.unknownFields = true
    if (this.readNames === undefined) return
    for (const name of names) {
      if (this.readNames.has(name)) continue
      this.refuse(name.slice(0, 64), 'unknown', 'is no parameter here')
    }
  }

  private items(name: string, value: unknown, max: number): readonly Params[] {
    if (!Array.isArray(value)) {
      this.refuse(name, 'type', 'must be an array of objects')
      return []
    }
    if (!this.counted(name, value.length, max)) return []
    const items: Params[] = []
    for (let i = 0; i < value.length; i++) {
      items.push(new Params(value[i], this.findings, this, name, i))
    }
    return items
  }

  private counted(name: string, count: number, max: number): boolean {
    if (count > 0 && count <= max) return true
    this.refuse(name, 'count', `must hold 1 to ${max} items`, `1 to ${max}`)
    return false
  }

  private read(name: string): unknown {
    this.readNames?.add(name)
    const value = this.fields[name]
    if (value !== undefined) this.readCount++
    return value
  }

  private refuseForm(name: string, value: unknown, { expected }: Form<Content>): void {
    const rule = typeof value === 'string' ? 'format' : 'type'
    this.refuse(name, rule, `must be ${expected}`, expected)
  }

  private pointer(): string {
    if (this.parent === undefined) return ''
    const own = `${this.parent.pointer()}/${this.name}`
    return this.index === -1 ? own : `${own}/${this.index}`
  }
}

/** Refuses what another of the items has already: `values` are the items' own, in order. */
export const refuseRepeated = (
  items: readonly Params[],
  name: string,
  values: readonly string[],
): void => {
  if (values.length < 2) return
  const known = new Set<string>()
  values.forEach((value, i) => {
    if (value !== '' && known.has(value))
      items[i]?.refuse(name, 'unique', 'is the same in another item')
    known.add(value)
  })
}
