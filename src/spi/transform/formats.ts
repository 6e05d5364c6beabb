import { isMessageType, messageTypes, type TypedMessage } from '#codecs/iso20022'
import { pixPayment } from './projections/pix-payment.ts'
import { pixReturn } from './projections/pix-return.ts'
import { pixStatus } from './projections/pix-status.ts'

/** The message types that have a business view, and what that view is called. */
export const projectionTargets = {
  'pacs.008': 'pix_payment',
  'pacs.002': 'pix_status',
  'pacs.004': 'pix_return',
} as const

export type ProjectedType = keyof typeof projectionTargets

export const projectedTypes = Object.keys(projectionTargets) as readonly ProjectedType[]

export const isProjectedType = (type: string): type is ProjectedType =>
  Object.hasOwn(projectionTargets, type)

/** The lossless form of any message of the catalogue; a source as well as a target. */
export const JSON_FORMAT = 'json'

export const sourceFormats: readonly string[] = [...messageTypes, JSON_FORMAT]

export const targetFormats: readonly string[] = [
  ...Object.values(projectionTargets),
  JSON_FORMAT,
  ...messageTypes,
]

export const isSourceFormat = (format: string): boolean =>
  isMessageType(format) || format === JSON_FORMAT

/** What a source becomes when the caller does not say. */
export const defaultTarget = (source: string): string | undefined =>
  isProjectedType(source) ? projectionTargets[source] : undefined

/** `target` undefined: the default of the source, if it has one. */
export const isSupported = (source: string, target: string | undefined): boolean => {
  if (target === undefined || isProjectedTarget(source, target)) return isProjectedType(source)
  if (source === JSON_FORMAT) return isMessageType(target)
  return target === JSON_FORMAT && isMessageType(source)
}

const isProjectedTarget = (source: string, target: string): boolean =>
  isProjectedType(source) && projectionTargets[source] === target

/** The pairs of formats this gateway converts between. */
export const supportedTransformations = [
  ...projectedTypes.map((type) => ({
    source_format: type,
    target_format: projectionTargets[type],
  })),
  ...messageTypes.map((type) => ({ source_format: type, target_format: JSON_FORMAT })),
  ...messageTypes.map((type) => ({ source_format: JSON_FORMAT, target_format: type })),
]

/** The same in one line. */
export const acceptedPairs = [
  ...projectedTypes.map((type) => `${type} → ${projectionTargets[type]}`),
  `any message type → ${JSON_FORMAT}`,
  `${JSON_FORMAT} → any message type`,
].join(', ')

/** The business view of a message that was read, as JSON. */
export const project = (message: TypedMessage, enrich: boolean): string => {
  switch (message.type) {
    case 'pacs.008':
      return pixPayment(message, enrich)
    case 'pacs.002':
      return pixStatus(message, enrich)
    case 'pacs.004':
      return pixReturn(message, enrich)
  }
}
