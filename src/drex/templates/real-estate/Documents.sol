// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title ERC-1643: documents attached to a token, each by name, place and hash.
abstract contract Documents {
    struct Entry {
        string uri;
        bytes32 hash;
        uint256 timestamp;
        /// Position in `_documentNames` plus one; zero when there is no such document.
        uint256 slot;
    }

    bytes32[] private _documentNames;
    mapping(bytes32 name => Entry) private _documents;

    event DocumentUpdated(bytes32 indexed name, string uri, bytes32 documentHash);
    event DocumentRemoved(bytes32 indexed name, string uri, bytes32 documentHash);

    error UnknownDocument(bytes32 name);
    error InvalidDocument(bytes32 name);

    function getDocument(
        bytes32 name_
    ) external view returns (string memory uri, bytes32 documentHash, uint256 timestamp) {
        Entry storage entry = _documents[name_];
        return (entry.uri, entry.hash, entry.timestamp);
    }

    function getAllDocuments() external view returns (bytes32[] memory) {
        return _documentNames;
    }

    function _setDocument(bytes32 name_, string memory uri, bytes32 hash) internal {
        if (name_ == bytes32(0) || bytes(uri).length == 0) revert InvalidDocument(name_);
        Entry storage entry = _documents[name_];
        if (entry.slot == 0) {
            _documentNames.push(name_);
            entry.slot = _documentNames.length;
        }
        entry.uri = uri;
        entry.hash = hash;
        entry.timestamp = block.timestamp;
        emit DocumentUpdated(name_, uri, hash);
    }

    function _removeDocument(bytes32 name_) internal {
        Entry memory entry = _documents[name_];
        if (entry.slot == 0) revert UnknownDocument(name_);
        bytes32 last = _documentNames[_documentNames.length - 1];
        _documentNames[entry.slot - 1] = last;
        _documents[last].slot = entry.slot;
        _documentNames.pop();
        delete _documents[name_];
        emit DocumentRemoved(name_, entry.uri, entry.hash);
    }
}
