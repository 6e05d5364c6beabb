import { elementPath, messageVocabulary } from '#codecs/iso20022'
import { isCnpj, isCpf } from '#codecs/taxpayer'
import { absent, type XmlDocument } from '#codecs/xml'
import { changesDirection, isBlank } from '#src/platform/runtime/index.ts'
import { operationMoment } from './domain.ts'

/** A rule that a value breaks although its form is right. Holds nothing of the value. */
type Fault = { readonly rule: string; readonly message: string }

type ValueRule = {
  readonly judge: (text: string) => Fault | undefined
  /** The parameters of a message to send that hold such a value. */
  readonly params: readonly string[]
  /** The elements that do, each with those directly around it where its name does not tell. */
  readonly elements: readonly string[]
}

const taxpayer = (text: string): Fault | undefined => {
  const kind = text.length === 11 ? 'CPF' : 'CNPJ'
  const isOne = kind === 'CPF' ? isCpf(text) : isCnpj(text)
  return isOne
    ? undefined
    : { rule: 'check_digits', message: `is no ${kind}: its check digits are wrong` }
}

/** A charge and its answer have a place for who initiated them, where nobody stands. */
const nobody = (text: string): Fault | undefined =>
  text === '00000000000000' ? undefined : taxpayer(text)

const operationForm = /^[A-Z][0-9A-Z]{8}\d{12}[a-zA-Z0-9]{11}$/

/** The minute of an id of an operation; what has another form has none. */
const minute = (text: string): Fault | undefined =>
  operationForm.test(text) && operationMoment(text) === undefined
    ? { rule: 'date', message: 'has a minute that does not exist in UTC' }
    : undefined

const dayForm = /^[A-Z]{2}[0-9A-Z]{8}(\d{4})(\d\d)(\d\d)[a-zA-Z0-9]{11}$/
const controlForm = /^[A-Z]{3}(\d{4})(\d\d)(\d\d)[a-zA-Z0-9]{9}$/

/** The day, YYYY-MM-DD, of an id that has one, by its form: two letters and an ISPB before it, or three letters. */
const writtenDay = (text: string): string | undefined => {
  const [, year, month, date] = dayForm.exec(text) ?? controlForm.exec(text) ?? []
  return year === undefined ? undefined : `${year}-${month}-${date}`
}

const day = (text: string): Fault | undefined => {
  const written = writtenDay(text)
  if (written === undefined) return undefined
  const moment = new Date(`${written}T00:00:00.000Z`)
  const isReal = !Number.isNaN(moment.getTime()) && moment.toISOString().startsWith(written)
  return isReal ? undefined : { rule: 'date', message: 'has a day that does not exist' }
}

/** An entry is named by the id of an operation, or by a control number of another system. */
const minuteOrDay = (text: string): Fault | undefined => minute(text) ?? day(text)

const shownText = (text: string): Fault | undefined => {
  if (isBlank(text)) return { rule: 'blank', message: 'holds nothing that can be seen' }
  return changesDirection(text)
    ? { rule: 'direction', message: 'holds characters that change the direction of text' }
    : undefined
}

/** How far the moment in an id may be from that of its processing; the SPI refuses what is further. */
const toleranceMs = 12 * 3_600_000

/** Whether an id was made within 12 hours of a moment; one that tells no moment is judged by its form. */
export const isMadeNear = (id: string, atMs: number): boolean => {
  const moment = operationMoment(id)
  return moment === undefined || Math.abs(moment.getTime() - atMs) <= toleranceMs
}

/** Whether an id tells a moment further ahead than clocks may differ. */
export const isOfFuture = (id: string, nowMs: number): boolean => {
  const moment = operationMoment(id) ?? new Date(`${writtenDay(id)}T00:00:00.000Z`)
  return moment.getTime() > nowMs + toleranceMs
}

/**
 * What values must be beyond their form, for every message, whichever way it goes: what we send is refused for it, what
 * we receive is taken with a warning. No schema says any of this.
 */
const valueRules: readonly ValueRule[] = [
  { judge: nobody, params: [], elements: ['GrpHdr/InitgPty/Id/OrgId/Othr/Id'] },
  {
    judge: taxpayer,
    params: ['document', 'initiator_document', 'requester_document'],
    elements: ['PrvtId/Othr/Id', 'OrgId/Othr/Id'],
  },
  {
    judge: minute,
    params: ['end_to_end_id', 'original_end_to_end_id', 'original_instruction_id', 'return_id'],
    elements: ['EndToEndId', 'OrgnlEndToEndId', 'InstrId', 'OrgnlInstrId', 'RtrId'],
  },
  {
    judge: day,
    params: ['mandate_id', 'cancellation_id'],
    elements: ['MndtId', 'MndtReqId', 'PmtCxlId', 'OrgnlPmtInfCxlId'],
  },
  { judge: minuteOrDay, params: ['entry_id'], elements: ['RptgReq/Id'] },
  {
    judge: shownText,
    params: [
      ...['name', 'remittance_information', 'additional_information', 'error_description'],
      ...['contract_number', 'contract_description'],
    ],
    elements: ['Nm', 'Ustrd', 'AddtlInf', 'AddtlNtfctnInf'],
  },
]

const byParam: ReadonlyMap<string, ValueRule> = new Map(
  valueRules.flatMap((rule) => rule.params.map((name) => [name, rule] as const)),
)

const nullFault: Fault = { rule: 'type', message: 'must not be null: leave it out' }

/** @property pointer - into the parameters */
export type ParamFault = Fault & { readonly pointer: string }

/**
 * The values among parameters that break a rule, and each null: the published parameters have none, and whoever sends
 * one may mean something by it. Whatever else is no text is left to whoever judges forms.
 */
export const faultsInParams = (params: unknown): readonly ParamFault[] => {
  const faults: ParamFault[] = []
  const visit = (value: unknown, name: string, pointer: string): void => {
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) visit(item, name, `${pointer}/${index}`)
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, inner] of Object.entries(value)) visit(inner, key, `${pointer}/${key}`)
    } else if (typeof value === 'string') {
      const fault = byParam.get(name)?.judge(value)
      if (fault !== undefined) faults.push({ ...fault, pointer })
    } else if (value === null) faults.push({ ...nullFault, pointer })
  }
  visit(params, '', '')
  return faults
}

type ElementRule = {
  readonly judge: ValueRule['judge']
  /** The element's own name, which the warning goes by. */
  readonly name: string
  /** By id, the nearest first. */
  readonly around: readonly number[]
}

const elementRules: readonly (readonly ElementRule[] | undefined)[] = (() => {
  const table: ElementRule[][] = []
  for (const { judge, elements } of valueRules) {
    for (const element of elements) {
      const [name = '', ...around] = element.split('/').reverse()
      const id = messageVocabulary.idOf(name)
      table[id] ??= []
      table[id].push({ judge, name, around: around.map((one) => messageVocabulary.idOf(one)) })
    }
  }
  return table
})()

/** @property path - XPath */
export type ElementFault = {
  readonly rule: string
  readonly path: string
  readonly message: string
}

/**
 * The values in a message that break a rule, up to a number of them.
 *
 * @param document scanned with the codec's vocabulary
 */
export const faultsInDocument = (document: XmlDocument, max: number): readonly ElementFault[] => {
  const faults: ElementFault[] = []
  const names: number[] = []
  const ends: number[] = []
  for (let node = document.root; node < document.endNode && faults.length < max; node++) {
    if (!document.isElement(node)) continue
    while (ends.length > 0 && node >= (ends.at(-1) as number)) {
      ends.pop()
      names.pop()
    }
    const name = document.nameId(node)
    if (document.firstChild(node) !== absent) {
      names.push(name)
      ends.push(document.next(node))
      continue
    }
    const found = elementRules[name]?.find(({ around }) =>
      around.every((one, index) => names[names.length - 1 - index] === one),
    )
    const fault = found?.judge(document.textOf(node))
    if (found === undefined || fault === undefined) continue
    faults.push({
      rule: found.name,
      path: elementPath(document, node),
      message: fault.message,
    })
  }
  return faults
}
