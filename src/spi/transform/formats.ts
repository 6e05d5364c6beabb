import type { TypedMessage } from '#codecs/iso20022'
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

/** The business view of a message that was read. */
export const project = (message: TypedMessage, enrich: boolean): object => {
  switch (message.type) {
    case 'pacs.008':
      return pixPayment(message, enrich)
    case 'pacs.002':
      return pixStatus(message, enrich)
    case 'pacs.004':
      return pixReturn(message, enrich)
  }
}
