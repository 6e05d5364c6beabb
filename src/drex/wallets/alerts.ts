/** The balances that an owner wants to be told about. */
import { z } from 'zod'
import { amountForm } from '../domain.ts'

const amount = z
  .string()
  .regex(amountForm, 'must be a positive amount with at least two fraction digits, such as 150.00')

/** Decimals of the network's currency, and of its coin. */
export const alertsSchema = z.strictObject({
  balance_below: amount
    .optional()
    .meta({ description: 'Of the network’s currency: less than this is told' }),
  gas_below: amount
    .optional()
    .meta({ description: 'Of the network’s coin, where it has fees: less than this is told' }),
})

export type WalletAlerts = z.output<typeof alertsSchema>
