import type { AdvisedRow } from './entry.ts'

/** What several messages say of the participants that they name, word for word. */

export const unknownParticipant: AdvisedRow = [
  'DS27',
  'S',
  'The participant is unknown or not operating',
  'Participante não cadastrado ou sem operar',
  'Look in the list of participants whether and since when it operates.',
  'Veja na lista de participantes se e desde quando ela opera.',
]

export const wrongPayerIspb: AdvisedRow = [
  'RC09',
  'S',
  'Invalid ISPB of the payer',
  'ISPB do pagador inválido',
  'Correct the ISPB of the paying institution.',
  'Corrija o ISPB da instituição pagadora.',
]

export const wrongReceiverIspb: AdvisedRow = [
  'RC10',
  'S',
  'Invalid ISPB of the receiver',
  'ISPB do recebedor inválido',
  'Correct the ISPB of the receiving institution.',
  'Corrija o ISPB da instituição recebedora.',
]
