import type { ReadProblem } from '#codecs/iso20022'
import type { XmlDocument } from '#codecs/xml'
import type { Warning } from '../../../messages/index.ts'
import type { MessageView } from '../../../messages/view.ts'

/** What a rule checks. The document is valid only while the rule runs. */
export type Subject = {
  readonly view: MessageView
  readonly document: XmlDocument
  /** This institution's. */
  readonly ispb: string
  readonly nowMs: number
  /** Versions that are known beside ours, as `pacs.008 1.18`. */
  readonly learnedVersions: ReadonlySet<string>
}

/** Returns the warnings for one rule. They never hold a value of the message. */
export type Validator = (subject: Subject) => readonly Warning[]

/** How far the clock of another may be ahead. */
export const aheadMsMax = 5 * 60_000

/** Warnings kept for one message: more say nothing new about a hopeless one. */
export const warningsMax = 50

/** Returns the warning when the rule does not hold. */
export const unless = (
  holds: boolean,
  rule: string,
  path: string,
  message: string,
): readonly Warning[] => (holds ? [] : [{ rule, path, message }])

/** Makes a validator that checks each transaction. */
export const eachTransaction =
  (check: (transaction: MessageView['transactions'][number]) => readonly Warning[]): Validator =>
  ({ view }) =>
    view.transactions.flatMap(check)

export const structureWarning = ({ path, message }: ReadProblem): Warning => ({
  rule: 'Structure',
  path,
  message,
})
