-- expand
DROP INDEX "drex_transfers_from";
DROP INDEX "drex_transfers_to";