import { pointerStep } from '../pointer.ts'
import type { Form } from './forms.ts'

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

type Fields = Readonly<Record<string, unknown>>

const noFields: Fields = {}

/**
 * Reads one object of the parameters by rules, and collects the problems of all objects in one list. A field that is
 * missing or wrong reads as empty: the caller builds unconditionally, and discards on any problem. Each field is read
 * once.
 */
export class Params {
  private readonly fields: Fields
  private readonly problems: BuildProblem[]
  private readonly parent: Params | undefined
  /** The steps from the parent to here, as `transactions/0`. */
  private readonly step: string
  private readonly readNames: string[] = []

  constructor(value: unknown, problems: BuildProblem[], parent?: Params, step = '') {
    this.problems = problems
    this.parent = parent
    this.step = step
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    this.fields = isObject ? (value as Fields) : noFields
    if (!isObject) this.refuse('', 'type', 'must be an object')
  }

  refuse(name: string, rule: string, message: string, expected?: string): void {
    if (this.problems.length === buildProblemsMax) return
    const pointer = name === '' ? this.pointer() : `${this.pointer()}/${name}`
    this.problems.push({ pointer, rule, message, ...(expected === undefined ? {} : { expected }) })
  }

  /** Empty if it is missing or wrong. */
  text(name: string, form: Form): string {
    if (!this.has(name)) this.refuse(name, 'required', 'is missing')
    return this.optional(name, form) ?? ''
  }

  optional(name: string, form: Form): string | undefined {
    const value = this.read(name)
    if (value === undefined || value === null) return undefined
    const text = typeof value === 'string' ? form.read(value) : undefined
    if (text === undefined) this.refuseForm(name, value, form)
    return text
  }

  /** A whole number of cents above zero; 0 if it is missing or wrong. */
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
    if (value !== undefined) return new Params(value, this.problems, this, name)
    this.refuse(name, 'required', 'is missing')
    // One problem is enough: we do not report further problems of a missing object.
    return new Params(noFields, [], this, name)
  }

  optionalObject(name: string): Params | undefined {
    const value = this.read(name)
    return value === undefined || value === null
      ? undefined
      : new Params(value, this.problems, this, name)
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

  /** Reads each object of a list or, without a list, these parameters themselves. */
  each<T>(name: string, max: number, readOne: (params: Params) => T): readonly T[] {
    const items = this.optionalList(name, max)
    if (items === undefined) return [readOne(this)]
    const all: T[] = []
    for (const item of items) {
      all.push(readOne(item))
      item.done()
    }
    return all
  }

  /** Refuses items of a list that repeat a value of an earlier one; `values` holds one for each item, in order. */
  refuseRepeated(list: string, name: string, values: readonly string[]): void {
    const known = new Set<string>()
    for (let i = 0; i < values.length; i++) {
      const value = values[i] ?? ''
      if (value !== '' && known.has(value)) {
        this.refuse(`${list}/${i}/${name}`, 'unique', 'is the same in another item')
      }
      known.add(value)
    }
  }

  /** One text, or an array of one to `max`; none if it is absent. */
  texts(name: string, form: Form, max: number): readonly string[] {
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
    for (const name in this.fields) {
      if (this.problems.length === buildProblemsMax) return
      if (this.readNames.includes(name)) continue
      this.refuse(pointerStep(name), 'unknown', 'is no parameter here')
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
      items.push(new Params(value[i], this.problems, this, `${name}/${i}`))
    }
    return items
  }

  private counted(name: string, count: number, max: number): boolean {
    if (count > 0 && count <= max) return true
    this.refuse(name, 'count', `must hold 1 to ${max} items`, `1 to ${max}`)
    return false
  }

  private read(name: string): unknown {
    this.readNames.push(name)
    return this.fields[name]
  }

  private refuseForm(name: string, value: unknown, { expected }: Form): void {
    const rule = typeof value === 'string' ? 'format' : 'type'
    this.refuse(name, rule, `must be ${expected}`, expected)
  }

  private pointer(): string {
    return this.parent === undefined ? '' : `${this.parent.pointer()}/${this.step}`
  }
}
