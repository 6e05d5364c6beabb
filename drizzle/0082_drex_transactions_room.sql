-- expand
-- A transaction that is taken up is written again where it is: no index has when it is due.
ALTER TABLE "drex_transactions" SET (fillfactor = 65);
