import {
  isMessageType,
  isPaymentMessageType,
  messageDefinitions,
  messageTypes,
  type PaymentMessageType,
} from '#codecs/iso20022'

export type ProjectedType = PaymentMessageType

export const projectedTypes: readonly ProjectedType[] = messageTypes.filter(isPaymentMessageType)

type Targets = {
  readonly [T in ProjectedType]: (typeof messageDefinitions)[T]['projection']['target']
}

/** The message types that have a business view, and the name of that view. */
export const projectionTargets = Object.fromEntries(
  projectedTypes.map((type) => [type, messageDefinitions[type].projection.target]),
) as Targets

const isProjectedType = (type: string): type is ProjectedType =>
  Object.hasOwn(projectionTargets, type)

/** The lossless form of any message of the catalogue; both a source and a target. */
export const jsonFormat = 'json'

export const sourceFormats: readonly string[] = [...messageTypes, jsonFormat]

export const targetFormats: readonly string[] = [
  ...Object.values(projectionTargets),
  jsonFormat,
  ...messageTypes,
]

export const isSourceFormat = (format: string): boolean =>
  isMessageType(format) || format === jsonFormat

/** The target of each source when the caller names none. */
export const defaultTarget = (source: string): string | undefined =>
  isProjectedType(source) ? projectionTargets[source] : undefined

/** `target` undefined: the default of the source, if it has one. */
export const isSupported = (source: string, target: string | undefined): boolean => {
  if (target === undefined || isProjectedTarget(source, target)) return isProjectedType(source)
  if (source === jsonFormat) return isMessageType(target)
  return target === jsonFormat && isMessageType(source)
}

const isProjectedTarget = (source: string, target: string): boolean =>
  isProjectedType(source) && projectionTargets[source] === target

/** The pairs of formats that this gateway converts between. */
export const supportedTransformations = [
  ...projectedTypes.map((type) => ({
    source_format: type,
    target_format: projectionTargets[type],
  })),
  ...messageTypes.map((type) => ({ source_format: type, target_format: jsonFormat })),
  ...messageTypes.map((type) => ({ source_format: jsonFormat, target_format: type })),
]

/** The same in one line. */
export const acceptedPairs = [
  ...projectedTypes.map((type) => `${type} → ${projectionTargets[type]}`),
  `any message type → ${jsonFormat}`,
  `${jsonFormat} → any message type`,
].join(', ')
