import type { Environment } from '../config/index.ts'
import type { Language } from '../http/index.ts'

/** One line of an explanation: a field, its value as text, the meaning of a code, and the lines below it. */
export type ExplainedField = {
  readonly name: string
  readonly value?: string
  readonly meaning?: string
  /** XPath of the element, where the input is XML: `/Envelope/AppHdr/Fr`, with positions where names repeat. */
  readonly path?: string
  readonly children?: readonly ExplainedField[]
}

export type Explanation = {
  /** One line about the input. */
  readonly title: string
  readonly fields: readonly ExplainedField[]
  /** The typed value, for `--json`; bigint is written as a decimal string. */
  readonly value: unknown
  /** Drawn with characters, below the tree; not in `--json`. */
  readonly picture?: string
  /** The input is not valid: the fields are those that we could read before. Ends the command with failure. */
  readonly failure?: { readonly message: string } & Readonly<Record<string, unknown>>
}

/** Options that only some kinds need; the others ignore them. */
export type InspectOptions = {
  /** A name, or what a JSON file holds. */
  readonly dialect?: unknown
  /** The JSON file of one card network. */
  readonly network?: unknown
  readonly frame?: string | undefined
  readonly unmasked?: boolean
  /** The language of names and meanings, where there are both; English when left out. */
  readonly language?: Language
  /** Validate the whole message with the schema that these settings name; a violation is a failure. */
  readonly validateWith?: Environment | undefined
  /** Open what is encrypted, with the keys that these settings name. */
  readonly openWith?: Environment | undefined
}

/** In the order of recognition. */
export const inspectorNames = ['iso20022', 'rsfn', 'jose', 'brcode', 'iso8583'] as const

/** Explains one kind of message to a person; `trilho inspect` picks it by content or by `--as`. */
export type Inspector = {
  /** The word for `--as`. */
  readonly name: (typeof inspectorNames)[number]
  readonly summary: string
  /** True when the input looks like this kind; cheap, never throws. */
  readonly matches: (input: Uint8Array) => boolean
  /** Throws an Error with a message for the user when the input is bad. */
  readonly explain: (
    input: Uint8Array,
    options?: InspectOptions,
  ) => Explanation | Promise<Explanation>
  /** The message that a JSON value describes, as text to print. */
  readonly pack?: (json: unknown, options: InspectOptions) => string
}

/** The kind that the input looks like; the most reliable test comes first. */
export const recognise = (
  inspectors: readonly Inspector[],
  input: Uint8Array,
): Inspector | undefined => inspectors.find(({ matches }) => matches(input))
