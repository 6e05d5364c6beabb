import { messageReader, text } from '../shape.ts'

/** Reads a scanned admi.002; problems are left in `reader`. */
export const readAdmi002 = messageReader('admi.002', 'admi.002.001.01', {
  reference: text('RltdRef/Ref'),
  reason: text('Rsn/RjctgPtyRsn'),
  rejectionDateTime: text('Rsn/RjctnDtTm?'),
  errorLocation: text('Rsn/ErrLctn?'),
  description: text('Rsn/RsnDesc?'),
  additionalData: text('Rsn/AddtlData?'),
})

/** admi.002, MessageReject: a message is refused. */
export type Admi002 = ReturnType<typeof readAdmi002>
